/*
 * Charts of a report, drawn from what curves.js computes.
 *
 * One horizontal axis (samples, rounds, bytes, seconds, simulated seconds, iterations) governs all charts and tables;
 * the cursor is common to the charts of a section. #x=rounds in the address chooses the axis.
 */
"use strict";
(function () {
    /* Columns for the horizontal axis, in the order of the switch. */
    const AXES = ["ifo", "rounds", "bytes", "seconds", "network_seconds", "iteration"];
    const MARGIN = { top: 10, right: 14, bottom: 40, left: 56 };
    const SVG = "http://www.w3.org/2000/svg";
    const state = { x: "ifo" };
    const sections = [];

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

    /* What is known about a column. */
    function about(column) {
        const plain = column.replace(/_/g, " ");
        const [, word, title, log] = COLUMNS.find((entry) => entry[0] === column) || [column, plain, plain, false];
        return { word, title, log };
    }

    function title(column) {
        return about(column).title;
    }

    /* Short, and the same digits for every reader. */
    function short(value) {
        if (value === 0) return "0";
        const size = Math.abs(value);
        if (size >= 1e15 || size < 1e-3) return value.toExponential(1).replace("e+", "e");
        for (const [unit, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]])
            if (size >= unit) return String(Number((value / unit).toPrecision(4))) + letter;
        return String(Number(value.toPrecision(4)));
    }

    function exact(value) {
        if (!Number.isFinite(value)) return "\u2013";
        if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en-US");
        const size = Math.abs(value);
        return size >= 1e-3 && size < 1e6 ? String(Number(value.toPrecision(5))) : value.toExponential(3);
    }

    /* ---- data ---- */

    function readSection(root) {
        const groups = Array.from(root.querySelectorAll(".legend button")).map((button, index) => ({
            index,
            button,
            label: button.dataset.label,
            colour: button.dataset.colour,
            dashes: button.dataset.dashes,
            runs: [],
        }));
        for (const link of root.querySelectorAll("a.data"))
            groups[Number(link.dataset.group)].runs.push(Curves.table(link));
        const columns = [];
        for (const group of groups)
            for (const run of group.runs)
                for (const name of Object.keys(run)) if (!columns.includes(name)) columns.push(name);
        return { root, groups, columns, hidden: new Set(), cursor: null, charts: [] };
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

    function drawAxes(chart, plot, x, y, width, height) {
        for (const tick of y.ticks) {
            const at = y.place(tick).toFixed(1);
            element("line", { class: "grid", x1: 0, x2: width, y1: at, y2: at }, plot);
            const text = element("text", { x: -8, y: at, "text-anchor": "end", "dominant-baseline": "central" }, plot);
            if (y.log) {
                text.textContent = "10";
                const power = element("tspan", { dy: "-0.5em", "font-size": "9px" }, text);
                power.textContent = String(Math.round(Math.log10(tick))).replace("-", "\u2212");
            } else text.textContent = short(tick);
        }
        for (const tick of x.ticks) {
            const at = x.place(tick).toFixed(1);
            element("line", { class: "grid", x1: at, x2: at, y1: 0, y2: height }, plot);
            const text = element("text", { x: at, y: height + 17, "text-anchor": "middle" }, plot);
            text.textContent = short(tick);
        }
        element("path", { class: "axis", fill: "none", d: `M0 0V${height}H${width}` }, plot);
        const label = element("text", { x: width / 2, y: height + 35, "text-anchor": "middle", class: "x-label" }, plot);
        label.textContent = title(state.x);
    }

    function drawCurve(plot, curve, x, y) {
        const group = curve.group;
        if (curve.several)
            element("path", { class: "band", style: `fill:${group.colour}`, d: bandPath(curve.points, x, y) }, plot);
        for (const tail of curve.tails)
            element("path", { class: "tail", style: `stroke:${group.colour}`, d: path(tail, x, y, 1) }, plot);
        const points = thin(curve.points, x.place);
        element("path", {
            class: "curve", style: `stroke:${group.colour}`, "stroke-dasharray": group.dashes,
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

    function draw(chart) {
        const section = chart.section;
        const svg = chart.svg;
        const width = Math.max(svg.clientWidth - MARGIN.left - MARGIN.right, 80);
        const height = Math.max(svg.clientHeight - MARGIN.top - MARGIN.bottom, 80);
        const wantsLog = about(chart.y).log;
        const curves = section.groups
            .filter((group) => !section.hidden.has(group.index))
            .map((group) => Object.assign(Curves.series(group, state.x, chart.y, wantsLog), { group }));
        const x = Curves.horizontal(curves, width);
        const y = Curves.vertical(curves, wantsLog, height, x.high, chart.whole);
        if (wantsLog && !y.log)
            for (const curve of curves) Object.assign(curve, Curves.series(curve.group, state.x, chart.y, false));
        chart.zoom.hidden = !y.steep;
        chart.zoom.textContent = chart.whole ? "cut off the start" : "start cut off: show all";
        svg.replaceChildren();
        const plot = element("g", { transform: `translate(${MARGIN.left} ${MARGIN.top})` }, svg);
        drawAxes(chart, plot, x, y, width, height);
        /* The first of the legend on top, but dashes over lines, which would hide them. */
        const order = curves.slice().reverse();
        const cut = y.steep && !chart.whole;
        const frame = element("svg", { width, height, overflow: cut ? "hidden" : "visible" }, plot);
        for (const curve of order) if (curve.group.dashes === "") drawCurve(frame, curve, x, y);
        for (const curve of order) if (curve.group.dashes !== "") drawCurve(frame, curve, x, y);
        chart.drawn = { plot, curves, x, y, width, height };
        chart.mark = element("g", {}, plot);
        drawCursor(chart);
    }

    /* ---- the cursor ---- */

    /* The point of a curve nearest to x, if x is on it. */
    function nearest(points, x) {
        const whole = points.filter((point) => Number.isFinite(point[0]) && Number.isFinite(point[1]));
        if (whole.length === 0) return null;
        let best = whole[0];
        for (const point of whole) if (Math.abs(point[0] - x) < Math.abs(best[0] - x)) best = point;
        return best;
    }

    function drawCursor(chart) {
        const { curves, x, y, width, height } = chart.drawn;
        const at = chart.section.cursor;
        chart.mark.replaceChildren();
        chart.tip.hidden = at === null;
        if (at === null) return;
        const place = x.place(Math.min(at, x.high));
        element("line", { class: "cursor", x1: place, x2: place, y1: 0, y2: height }, chart.mark);
        chart.tip.replaceChildren();
        html("div", "soft", exact(Number(at.toPrecision(4))) + " " + title(state.x), chart.tip);
        const rows = html("table", "", undefined, chart.tip);
        const found = curves
            .map((curve) => ({ curve, point: nearest(curve.points, at) }))
            .filter((entry) => entry.point && entry.curve.points[entry.curve.points.length - 1][0] >= at - 0.02 * x.high)
            .sort((a, b) => b.point[1] - a.point[1]);
        for (const { curve, point } of found) {
            if (point[1] >= y.low && point[1] <= y.high) element("circle", {
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
        const top = chart.svg.getBoundingClientRect().top - chart.box.getBoundingClientRect().top;
        chart.tip.style.top = top + MARGIN.top + "px";
    }

    function moveCursor(section, x) {
        section.cursor = x;
        section.charts.forEach(drawCursor);
    }

    function listen(chart) {
        const section = chart.section;
        const seen = (event) => {
            const box = chart.svg.getBoundingClientRect();
            const share = (event.clientX - box.left - MARGIN.left) / chart.drawn.width;
            moveCursor(section, Math.min(Math.max(share, 0), 1) * chart.drawn.x.high);
        };
        chart.svg.addEventListener("pointermove", seen);
        chart.svg.addEventListener("pointerdown", seen);
        chart.svg.addEventListener("pointerleave", () => moveCursor(section, null));
        chart.svg.addEventListener("blur", () => moveCursor(section, null));
        chart.svg.addEventListener("keydown", (event) => {
            const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
            if (event.key === "Escape") moveCursor(section, null);
            if (!step) return;
            event.preventDefault();
            const high = chart.drawn.x.high;
            const at = section.cursor === null ? high / 2 : section.cursor + (step * high) / 50;
            moveCursor(section, Math.min(Math.max(at, 0), high));
        });
    }

    /* ---- the page ---- */

    function makeChart(section, box, y, choices) {
        const bar = html("div", "bar", undefined, box);
        const select = html("select", "", undefined, bar);
        select.setAttribute("aria-label", "what the chart shows");
        for (const name of choices) {
            const option = html("option", "", title(name), select);
            option.value = name;
            option.selected = name === y;
        }
        const svg = element("svg", { role: "img", tabindex: "0", "aria-label": title(y) }, box);
        const tip = html("div", "tip", undefined, box);
        tip.hidden = true;
        const zoom = html("button", "zoom", undefined, bar);
        zoom.type = "button";
        const chart = { section, box, svg, tip, y, zoom, whole: false };
        zoom.addEventListener("click", () => {
            chart.whole = !chart.whole;
            draw(chart);
        });
        select.addEventListener("change", () => {
            chart.y = select.value;
            svg.setAttribute("aria-label", title(chart.y));
            draw(chart);
        });
        section.charts.push(chart);
        draw(chart);
        listen(chart);
        new ResizeObserver(() => draw(chart)).observe(svg);
    }

    function makeSection(root) {
        const section = readSection(root);
        const choices = section.columns.filter((name) => !AXES.includes(name) && name !== "messages");
        if (choices.length === 0) return;
        /* Outcomes, where they were written, say more than the loss. */
        const worth = choices.find((name) => name.startsWith("test_")) || choices.find((name) => name.startsWith("train_"));
        const wanted = [...root.dataset.y.split(","), "metric", worth, "loss", ...choices].filter((name) => choices.includes(name));
        const shown = [...new Set(wanted)];
        Array.from(root.querySelectorAll(".chart")).forEach((box, k) => {
            if (shown[k] !== undefined) makeChart(section, box, shown[k], choices);
            else box.remove();
        });
        for (const group of section.groups)
            group.button.addEventListener("click", () => {
                if (!section.hidden.delete(group.index)) section.hidden.add(group.index);
                group.button.setAttribute("aria-pressed", String(!section.hidden.has(group.index)));
                section.charts.forEach(draw);
            });
        sections.push(section);
    }

    function chooseAxis(x) {
        state.x = x;
        for (const button of document.querySelectorAll(".axes button"))
            button.setAttribute("aria-pressed", String(button.dataset.x === x));
        const costs = document.querySelectorAll(".cost");
        const known = Array.from(costs).some((cost) => cost.dataset.x === x);
        costs.forEach((cost) => { cost.hidden = cost.dataset.x !== (known ? x : "ifo"); });
        for (const section of sections) {
            section.cursor = null;
            section.charts.forEach(draw);
        }
    }

    function makeSwitch() {
        const bar = document.querySelector(".axes");
        const present = AXES.filter((axis) => sections.some((section) => section.columns.includes(axis)));
        for (const column of present) {
            const word = about(column).word;
            const button = html("button", "", word, bar);
            button.type = "button";
            button.dataset.x = column;
            button.addEventListener("click", () => {
                chooseAxis(column);
                history.replaceState(null, "", "#x=" + word);
            });
        }
        bar.hidden = present.length === 0;
        const asked = present.find((axis) => location.hash === "#x=" + about(axis).word);
        if (present.length > 0) chooseAxis(asked || present[0]);
    }

    document.querySelectorAll("section.traces").forEach(makeSection);
    makeSwitch();
    document.documentElement.dataset.ready = "yes";
})();
