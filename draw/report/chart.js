/*
 * One chart of a report: axes, curves, the cursor with its values, and the part of the horizontal axis that is shown.
 *
 * The cursor and that part are common to the charts of a section; column and scale of the horizontal axis to all.
 */
"use strict";
const Charts = (function () {
    const MARGIN = { top: 10, right: 14, bottom: 40, left: 62 };
    const SVG = "http://www.w3.org/2000/svg";
    /* The smallest part of the horizontal axis that can be shown, and the shortest drag in pixels. */
    const SMALLEST = 1e-3;
    const SHORTEST = 8;
    /* Places across a chart at which curves are compared, and the distance in pixels up to which they look the same. */
    const LOOKS = 60;
    const SAME = 2;
    /* The horizontal axis of all charts. */
    const view = { x: "ifo", log: false };

    /* ---- small things ---- */

    function element(name, attributes, parent) {
        const made = document.createElementNS(SVG, name);
        for (const key of Object.keys(attributes)) made.setAttribute(key, attributes[key]);
        if (parent) parent.appendChild(made);
        return made;
    }

    function html(name, className, text, parent) {
        const made = document.createElement(name);
        if (className) made.className = className;
        if (text !== undefined) made.textContent = text;
        if (parent) parent.appendChild(made);
        return made;
    }

    function button(text, label, parent, act) {
        const made = html("button", "", text, parent);
        made.type = "button";
        if (label) made.setAttribute("aria-label", label);
        if (label) made.title = label;
        made.addEventListener("click", act);
        return made;
    }

    /* What is known about a column. */
    function about(column) {
        const plain = column.replace(/_/g, " ");
        const [, word, title, log] = COLUMNS.find((entry) => entry[0] === column) || [column, plain, plain, false];
        return { word, title, log };
    }

    function title(column) {
        return about(column).title;
    }

    /* A number for an axis: short, and the same digits for every reader. */
    function short(value, digits) {
        if (value === 0) return "0";
        const size = Math.abs(value);
        if (size >= 1e15 || size < 1e-3) return value.toExponential(digits - 1).replace("e+", "e");
        for (const [unit, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]])
            if (size >= unit) return String(Number((value / unit).toPrecision(digits + 2))) + letter;
        return String(Number(value.toPrecision(digits + 2)));
    }

    /* The numbers of an axis, with as many digits as tell them apart. */
    function labels(ticks) {
        let texts = [];
        for (let digits = 2; digits < 16 && new Set(texts).size < Math.max(ticks.length, 1); digits++)
            texts = ticks.map((tick) => short(tick, digits));
        return texts;
    }

    function exact(value) {
        if (!Number.isFinite(value)) return "\u2013";
        if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en-US");
        const size = Math.abs(value);
        return size >= 1e-3 && size < 1e6 ? String(Number(value.toPrecision(5))) : value.toExponential(3);
    }

    function clamp(value, low, high) {
        return Math.min(Math.max(value, low), high);
    }

    /* ---- drawing ---- */

    /* Pixel columns of the chart bound how many points are worth drawing: of those that share one the
     * lowest and the highest are kept. */
    function thin(points, place) {
        if (points.length < 1500) return points;
        const kept = [];
        let bucket = [];
        const flush = () => {
            if (bucket.length <= 2) kept.push(...bucket);
            else {
                let low = 0;
                let high = 0;
                bucket.forEach((point, k) => {
                    if (point[1] < bucket[low][1]) low = k;
                    if (point[1] > bucket[high][1]) high = k;
                });
                kept.push(...[...new Set([low, high])].sort((a, b) => a - b).map((k) => bucket[k]));
            }
            bucket = [];
        };
        for (const point of points) {
            if (bucket.length > 0 && Math.floor(place(point[0])) !== Math.floor(place(bucket[0][0]))) flush();
            bucket.push(point);
        }
        flush();
        return kept;
    }

    function path(points, x, y, column) {
        let text = "";
        let pen = false;
        for (const point of points) {
            const good = Number.isFinite(point[0]) && Number.isFinite(point[column]);
            if (good)
                text += (pen ? "L" : "M") + x.place(point[0]).toFixed(1) + " " + y.place(point[column]).toFixed(1);
            pen = good;
        }
        return text;
    }

    function bandPath(points, x, y) {
        const whole = points.filter((point) => Number.isFinite(point[2]) && Number.isFinite(point[3]));
        if (whole.length < 2) return "";
        const lower = path(whole, x, y, 2);
        const upper = path(whole.slice().reverse(), x, y, 3).replace("M", "L");
        return lower + upper + "Z";
    }

    /* The text of a number at an axis: powers of ten, where all numbers there are. */
    function writeTick(text, tick, label, decades) {
        if (!decades) {
            text.textContent = label;
            return;
        }
        text.textContent = "10";
        const power = element("tspan", { dy: "-0.5em", "font-size": "9px" }, text);
        power.textContent = String(Math.round(Math.log10(tick))).replace("-", "\u2212");
    }

    function areDecades(ticks) {
        return ticks.every((tick) => Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < 1e-9);
    }

    function drawAxes(plot, x, y, width, height) {
        const decades = y.log && areDecades(y.ticks);
        const [across, up] = [labels(x.ticks), labels(y.ticks)];
        y.ticks.forEach((tick, k) => {
            const at = y.place(tick).toFixed(1);
            element("line", { class: "grid", x1: 0, x2: width, y1: at, y2: at }, plot);
            const text = element("text", { x: -8, y: at, "text-anchor": "end", "dominant-baseline": "central" }, plot);
            writeTick(text, tick, up[k], decades);
        });
        x.ticks.forEach((tick, k) => {
            const at = x.place(tick).toFixed(1);
            element("line", { class: "grid", x1: at, x2: at, y1: 0, y2: height }, plot);
            const text = element("text", { x: at, y: height + 17, "text-anchor": "middle" }, plot);
            text.textContent = across[k];
        });
        element("path", { class: "axis", fill: "none", d: `M0 0V${height}H${width}` }, plot);
        const place = { x: width / 2, y: height + 35, "text-anchor": "middle", class: "x-label" };
        const label = element("text", place, plot);
        label.textContent = title(view.x);
    }

    /* The heights of a curve in pixels at LOOKS places across the chart; NaN where it has none. */
    function heights(curve, x, y, width) {
        const points = curve.points.filter((point) => Number.isFinite(point[0]) && Number.isFinite(point[1]))
            .map((point) => [x.place(point[0]), y.place(point[1])]);
        let k = 1;
        return Array.from({ length: LOOKS }, (_, look) => {
            const at = (width * (look + 0.5)) / LOOKS;
            while (k < points.length && points[k][0] < at) k++;
            if (k >= points.length || points[k - 1][0] > at) return NaN;
            const [[left, from], [right, to]] = [points[k - 1], points[k]];
            return right > left ? from + ((at - left) / (right - left)) * (to - from) : from;
        });
    }

    /* Curves in the order in which they are drawn; one that others cover is the wider, so that all are visible. */
    function widen(curves, x, y, width) {
        const at = curves.map((curve) => heights(curve, x, y, width));
        const covers = (above, below) => {
            const both = above.map((value, k) => Math.abs(value - below[k])).filter(Number.isFinite);
            return both.length >= LOOKS / 10 && both.filter((distance) => distance <= SAME).length >= 0.8 * both.length;
        };
        curves.forEach((curve, k) => {
            curve.wide = 2 + 3 * at.slice(k + 1).filter((above) => covers(above, at[k])).length;
        });
    }

    function drawCurve(plot, curve, x, y) {
        const group = curve.group;
        const shown = Curves.visible(curve.points, x);
        if (curve.several)
            element("path", { class: "band", style: `fill:${group.colour}`, d: bandPath(shown, x, y) }, plot);
        for (const tail of curve.tails) {
            const d = path(Curves.visible(tail, x), x, y, 1);
            element("path", { class: "tail", style: `stroke:${group.colour}`, d }, plot);
        }
        const points = thin(shown, x.place);
        element("path", {
            class: "curve", style: `stroke:${group.colour};stroke-width:${curve.wide}`,
            "stroke-dasharray": group.dashes,
            "data-label": group.label, d: path(points, x, y, 1),
        }, plot);
        /* A point between gaps is no line. */
        const good = (point) => point !== undefined && Number.isFinite(point[0]) && Number.isFinite(point[1]);
        points.forEach((point, k) => {
            if (good(point) && !good(points[k - 1]) && !good(points[k + 1]))
                element("circle", {
                    class: "dot", r: 3, style: `fill:${group.colour}`, cx: x.place(point[0]), cy: y.place(point[1]),
                }, plot);
        });
    }

    /* What the controls of a chart show. */
    function updateControls(chart, x, y) {
        chart.steep.hidden = !y.steep;
        chart.steep.setAttribute("aria-pressed", String(!chart.whole));
        chart.scale.setAttribute("aria-pressed", String(y.log));
        chart.outer.disabled = !x.zoomed;
        chart.reset.disabled = !x.zoomed;
        chart.svg.setAttribute("aria-label",
            `${title(chart.y)} against ${title(view.x)}; left and right show values, ` +
            "plus and minus zoom, 0 shows all");
    }

    function draw(chart) {
        const section = chart.section;
        const svg = chart.svg;
        const width = Math.max(svg.clientWidth - MARGIN.left - MARGIN.right, 80);
        const height = Math.max(svg.clientHeight - MARGIN.top - MARGIN.bottom, 80);
        const wanted = { log: chart.log === null ? about(chart.y).log : chart.log, forced: chart.log !== null };
        const curves = section.groups
            .filter((group) => !section.hidden.has(group.index))
            .map((group) => Object.assign(Curves.series(group, view.x, chart.y, wanted.log), { group }));
        const x = Curves.horizontal(curves, width, view.log, section.zoom);
        const y = Curves.vertical(curves, wanted, height, x, chart.whole);
        if (wanted.log && !y.log)
            for (const curve of curves) Object.assign(curve, Curves.series(curve.group, view.x, chart.y, false));
        updateControls(chart, x, y);
        svg.replaceChildren();
        /* On paper the chart is as wide as there is room, which nobody says beforehand. */
        svg.setAttribute("viewBox", `0 0 ${width + MARGIN.left + MARGIN.right} ${height + MARGIN.top + MARGIN.bottom}`);
        const plot = element("g", { transform: `translate(${MARGIN.left} ${MARGIN.top})` }, svg);
        drawAxes(plot, x, y, width, height);
        /* The first of the legend on top, but dashes over lines, which would hide them. */
        const reversed = curves.slice().reverse();
        const isLine = (curve) => curve.group.dashes === "";
        const order = [...reversed.filter(isLine), ...reversed.filter((curve) => !isLine(curve))];
        widen(order, x, y, width);
        const cut = x.zoomed || (y.steep && !chart.whole);
        const frame = element("svg", { width, height, overflow: cut ? "hidden" : "visible" }, plot);
        for (const curve of order) drawCurve(frame, curve, x, y);
        chart.drawn = { curves, x, y, width, height };
        chart.mark = element("g", {}, plot);
        drawCursor(chart);
    }

    /* ---- the cursor ---- */

    /* The point of a curve nearest to a place in pixels. */
    function nearest(points, x, place) {
        let best = null;
        let least = Infinity;
        for (const point of points) {
            const distance = Number.isFinite(point[1]) ? Math.abs(x.place(point[0]) - place) : NaN;
            if (distance < least) [best, least] = [point, distance];
        }
        return best;
    }

    function drawCursor(chart) {
        const { curves, x, y, width, height } = chart.drawn;
        const at = chart.section.cursor;
        chart.mark.replaceChildren();
        if (chart.drag) {
            const [from, to] = chart.drag.map((part) => part * width).sort((a, b) => a - b);
            element("rect", { class: "selection", x: from, width: to - from, y: 0, height }, chart.mark);
        }
        chart.tip.hidden = at === null;
        if (at === null) return;
        const place = clamp(x.place(at), 0, width);
        element("line", { class: "cursor", x1: place, x2: place, y1: 0, y2: height }, chart.mark);
        chart.tip.replaceChildren();
        html("div", "soft", exact(Number(at.toPrecision(4))) + " " + title(view.x), chart.tip);
        const rows = html("table", "", undefined, chart.tip);
        const found = curves
            .map((curve) => ({ curve, point: nearest(curve.points, x, place) }))
            .filter(({ curve, point }) => point && curve.points[curve.points.length - 1][0] >= at - 0.02 * x.full.high)
            .sort((a, b) => b.point[1] - a.point[1]);
        for (const { curve, point } of found) {
            const inside = point[1] >= y.low && point[1] <= y.high && point[0] >= x.low && point[0] <= x.high;
            if (inside) element("circle", {
                r: 3.5, cx: x.place(point[0]), cy: y.place(point[1]), style: `fill:${curve.group.colour}`,
            }, chart.mark);
            const row = html("tr", "", undefined, rows);
            html("i", "", undefined, html("td", "", undefined, row)).style.background = curve.group.colour;
            html("td", "", curve.group.label, row);
            html("td", "", exact(point[1]), row);
        }
        const left = place + MARGIN.left;
        const wide = chart.tip.offsetWidth;
        const flip = left + wide + 24 > chart.box.clientWidth;
        chart.tip.style.left = Math.max(0, flip ? left - wide - 14 : left + 14) + "px";
        /* Away from the curves: at the bottom, where they are at the top. */
        const heights = found.map(({ point }) => y.place(point[1]));
        const high = heights.reduce((sum, at) => sum + at, 0) < (heights.length * height) / 2;
        const free = height - chart.tip.offsetHeight;
        const top = chart.svg.getBoundingClientRect().top - chart.box.getBoundingClientRect().top;
        chart.tip.style.top = top + MARGIN.top + (high && free > 0 ? free - 6 : 0) + "px";
    }

    function moveCursor(section, x) {
        section.cursor = x;
        section.charts.forEach(drawCursor);
    }

    /* ---- the part that is shown ---- */

    /* Show the part of the horizontal axis between two shares of the one that is shown now; null: all of it. */
    function zoom(chart, parts) {
        const { section, drawn: { x } } = chart;
        const ends = parts && parts.map((part) => clamp(x.at(part), x.full.low, x.full.high));
        const share = ends ? x.share(ends[1]) - x.share(ends[0]) : 1;
        if (share < SMALLEST) return;
        section.zoom = share < 0.999 ? { low: ends[0], high: ends[1] } : null;
        section.charts.forEach(draw);
    }

    /* Show `factor` times as much; what is under the cursor, or in the middle, stays where it is. */
    function zoomBy(chart, factor) {
        const { section, drawn: { x } } = chart;
        const centre = section.cursor === null ? 0.5 : clamp(x.part(section.cursor), 0, 1);
        zoom(chart, [centre - factor * centre, centre + factor * (1 - centre)]);
    }

    /* Move the cursor; at the end of the part that is shown, the part moves along. */
    function step(chart, direction) {
        const { section, drawn: { x } } = chart;
        const part = section.cursor === null ? 0.5 : x.part(section.cursor) + direction / 50;
        const at = clamp(x.at(part), x.full.low, x.full.high);
        const beyond = part < 0 ? x.part(at) : part > 1 ? x.part(at) - 1 : 0;
        section.cursor = at;
        if (x.zoomed && beyond !== 0) zoom(chart, [beyond, 1 + beyond]);
        else moveCursor(section, at);
    }

    const KEYS = {
        ArrowLeft: (chart) => step(chart, -1),
        ArrowRight: (chart) => step(chart, 1),
        "+": (chart) => zoomBy(chart, 0.5),
        "=": (chart) => zoomBy(chart, 0.5),
        "-": (chart) => zoomBy(chart, 2),
        0: (chart) => zoom(chart, null),
        Escape: (chart) => {
            chart.drag = null;
            moveCursor(chart.section, null);
        },
    };

    function listen(chart) {
        const { section, svg } = chart;
        const partOf = (event) => {
            const box = svg.getBoundingClientRect();
            return clamp((event.clientX - box.left - MARGIN.left) / chart.drawn.width, 0, 1);
        };
        const follow = (event) => {
            if (chart.drag) chart.drag[1] = partOf(event);
            moveCursor(section, chart.drawn.x.at(partOf(event)));
        };
        const drop = () => {
            const parts = chart.drag;
            chart.drag = null;
            if (parts && Math.abs(parts[1] - parts[0]) * chart.drawn.width >= SHORTEST)
                zoom(chart, parts.sort((a, b) => a - b));
            else drawCursor(chart);
        };
        svg.addEventListener("pointermove", follow);
        svg.addEventListener("pointerdown", (event) => {
            /* A finger that is dragged shows values. */
            if (event.pointerType !== "touch" && event.button === 0) {
                chart.drag = [partOf(event), partOf(event)];
                svg.setPointerCapture(event.pointerId);
            }
            follow(event);
        });
        svg.addEventListener("pointerup", drop);
        svg.addEventListener("pointercancel", KEYS.Escape.bind(null, chart));
        svg.addEventListener("dblclick", () => zoom(chart, null));
        svg.addEventListener("pointerleave", () => moveCursor(section, null));
        svg.addEventListener("blur", () => moveCursor(section, null));
        svg.addEventListener("keydown", (event) => {
            const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : KEYS[event.key];
            if (act === undefined) return;
            event.preventDefault();
            act(chart);
        });
    }

    /* ---- a chart ---- */

    function makeControls(chart, choices) {
        const bar = html("div", "bar", undefined, chart.box);
        const select = html("select", "", undefined, bar);
        select.setAttribute("aria-label", "what the chart shows");
        for (const name of choices) {
            const option = html("option", "", title(name), select);
            option.value = name;
            option.selected = name === chart.y;
        }
        select.addEventListener("change", () => {
            chart.y = select.value;
            chart.log = null;
            draw(chart);
        });
        const tools = html("div", "tools", undefined, bar);
        chart.steep = button("start cut off", "", tools, () => {
            chart.whole = !chart.whole;
            draw(chart);
        });
        chart.scale = button("log", "log scale of the vertical axis", tools, () => {
            chart.log = !chart.drawn.y.log;
            draw(chart);
        });
        chart.outer = button("\u2212", "zoom out", tools, () => zoomBy(chart, 2));
        button("+", "zoom in", tools, () => zoomBy(chart, 0.5));
        chart.reset = button("reset", "reset the zoom", tools, () => zoom(chart, null));
    }

    function make(section, box, y, choices) {
        /* log null: as the column wants it; drag: two shares of the axis, or null. */
        const chart = { section, box, y, log: null, whole: false, drag: null };
        makeControls(chart, choices);
        chart.svg = element("svg", { role: "img", tabindex: "0" }, box);
        chart.tip = html("div", "tip", undefined, box);
        chart.tip.setAttribute("role", "status");
        chart.tip.hidden = true;
        section.charts.push(chart);
        draw(chart);
        listen(chart);
        new ResizeObserver(() => draw(chart)).observe(chart.svg);
    }

    return { view, button, about, make, draw };
})();
