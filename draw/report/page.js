/*
 * Charts of a report. The data are the CSV files behind the page's download links; nothing else is
 * read, and nothing is asked of the network.
 *
 * One horizontal axis (samples, rounds, bytes, seconds, iterations) governs all charts and tables;
 * the cursor is common to the charts of a section. #x=rounds in the address chooses the axis.
 */
"use strict";
(function () {
    const AXES = [
        ["ifo", "samples", "gradient evaluations"],
        ["rounds", "rounds", "communication rounds"],
        ["bytes", "bytes", "bytes sent"],
        ["seconds", "seconds", "seconds"],
        ["iteration", "iterations", "iterations"],
    ];
    const TITLES = {
        metric: "convergence metric",
        mean_metric: "mean metric so far",
        loss_gap: "distance of the loss from its limit",
        primal: "primal value",
        x_stationarity: "x stationarity",
        x_consensus: "x consensus error",
        y_consensus: "y consensus error",
        y_gap: "gap of y to the best response",
        train_auc: "AUC on the agents' data",
        test_auc: "AUC on held-out data",
    };
    const LOGARITHMIC = new Set([
        "metric", "mean_metric", "loss_gap", "x_stationarity", "x_consensus", "y_consensus", "y_gap", "stationarity", "potential",
    ]);
    const MARGIN = { top: 10, right: 14, bottom: 40, left: 56 };
    /* What comes after this share of the horizontal axis is late; a range of late values below this share of
     * all is what a steep start leaves. */
    const LATE = 0.2;
    const STEEP = 0.1;
    /* Heights of a chart beyond which nothing is told apart. */
    const FAR = 1000;
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

    function title(column) {
        const axis = AXES.find((entry) => entry[0] === column);
        return axis ? axis[2] : TITLES[column] || column.replace(/_/g, " ");
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

    /* The table behind a download link: {column: [numbers]}. */
    function table(link) {
        const address = link.getAttribute("href");
        const text = decodeURIComponent(address.slice(address.indexOf(",") + 1));
        const lines = text.split("\n").filter((line) => line !== "" && line[0] !== "#");
        const names = lines[0].split(",");
        const columns = {};
        names.forEach((name) => { columns[name] = []; });
        for (const line of lines.slice(1))
            line.split(",").forEach((cell, k) => columns[names[k]].push(cell === "" ? NaN : Number(cell)));
        return columns;
    }

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
            groups[Number(link.dataset.group)].runs.push(table(link));
        const columns = [];
        for (const group of groups)
            for (const run of group.runs)
                for (const name of Object.keys(run)) if (!columns.includes(name)) columns.push(name);
        return { root, groups, columns, hidden: new Set(), cursor: null, charts: [] };
    }

    /* ---- mean and band, as in the program's pictures ---- */

    function valueAt(xs, ys, x, log) {
        const last = xs.length - 1;
        if (last < 0 || !(x >= xs[0]) || !(x <= xs[last])) return NaN;
        let low = 0;
        let high = last;
        while (high - low > 1) {
            const middle = (low + high) >> 1;
            if (xs[middle] <= x) low = middle;
            else high = middle;
        }
        const left = log ? Math.log(ys[low]) : ys[low];
        const right = log ? Math.log(ys[high]) : ys[high];
        const width = xs[high] - xs[low];
        const share = width > 0 ? (x - xs[low]) / width : 1;
        const value = !(share > 0) ? left : share < 1 ? left + share * (right - left) : right;
        return log ? Math.exp(value) : value;
    }

    function summary(values, log) {
        const sorted = values.slice().sort((a, b) => a - b);
        const last = sorted.length - 1;
        const sum = values.reduce((total, v) => total + (log ? Math.log(v) : v), 0);
        const mean = log ? Math.exp(sum / values.length) : sum / values.length;
        if (!Number.isFinite(sum)) return [NaN, NaN, NaN];
        return [mean, sorted[Math.floor(0.1 * last)], sorted[Math.ceil(0.9 * last)]];
    }

    /* What is drawn of a group: points [x, mean, low, high], and tails of longer runs. */
    function series(group, x, y, log) {
        const runs = group.runs.filter((run) => run[x] && run[y] && run[x].length > 0);
        if (runs.length === 0) return { points: [], tails: [], several: false };
        if (runs.length === 1)
            return { points: runs[0][x].map((at, k) => [at, runs[0][y][k]]), tails: [], several: false };
        const from = Math.max(...runs.map((run) => run[x][0]));
        const to = Math.min(...runs.map((run) => run[x][run[x].length - 1]));
        const grid = [from, ...runs[0][x].filter((at) => at > from && at < to), to];
        const points = from <= to
            ? grid.map((at) => [at, ...summary(runs.map((run) => valueAt(run[x], run[y], at, log)), log)])
            : [];
        const end = from <= to ? to : -Infinity;
        const tails = runs
            .filter((run) => run[x][run[x].length - 1] - end > 0.05 * Math.max(to - from, 0))
            .map((run) => {
                const first = Math.max(run[x].findIndex((at) => at > end) - 1, 0);
                return run[x].slice(first).map((at, k) => [at, run[y][first + k]]);
            });
        return { points, tails, several: true };
    }

    /* ---- axes ---- */

    function linearTicks(low, high, wanted) {
        const raw = (high - low) / wanted;
        const unit = Math.pow(10, Math.floor(Math.log10(raw)));
        const step = unit * [1, 2, 2.5, 5, 10].find((factor) => unit * factor >= raw);
        const ticks = [];
        for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) ticks.push(k * step);
        return ticks;
    }

    function decadeTicks(low, high, wanted) {
        const from = Math.round(Math.log10(low));
        const to = Math.round(Math.log10(high));
        const step = Math.max(1, Math.ceil((to - from) / wanted));
        const ticks = [];
        for (let k = to; k >= from; k -= step) ticks.push(Math.pow(10, k));
        return ticks;
    }

    /* The least and largest value where x is at least `from`. */
    function range(curves, wantsLog, from) {
        let low = Infinity;
        let high = -Infinity;
        let below = false;
        for (const curve of curves)
            for (const list of [curve.points, ...curve.tails])
                for (const point of list)
                    for (const value of point.slice(1)) {
                        if (!Number.isFinite(value) || !(point[0] >= from)) continue;
                        if (wantsLog && !(value > 0)) { below = true; continue; }
                        low = Math.min(low, value);
                        high = Math.max(high, value);
                    }
        return { low, high, below };
    }

    /* The vertical axis. A linear one over values that fall steeply at the start and differ little
     * afterwards would show a line: it shows what comes later, unless all is wanted. */
    function vertical(curves, wantsLog, height, end, whole) {
        let { low, high, below } = range(curves, wantsLog, -Infinity);
        const log = wantsLog && high > 0 && (below || high / low >= 10);
        const late = range(curves, false, LATE * end);
        const steep = !log && late.high > late.low && late.high - late.low < STEEP * (high - low);
        if (steep && !whole) ({ low, high } = late);
        if (!(low <= high)) { low = 0; high = 1; }
        if (log) {
            /* A mean of decades is a decade but for its last digit. */
            low = Math.pow(10, Math.floor(Math.log10(low) + 1e-9) - (below ? 1 : 0));
            high = Math.pow(10, Math.ceil(Math.log10(high) - 1e-9));
        } else {
            if (low === high) { low -= 0.5 * Math.abs(low) || 0.5; high += 0.5 * Math.abs(high) || 0.5; }
            const room = 0.05 * (high - low);
            low -= room;
            high += room;
        }
        const span = log ? Math.log(high / low) : high - low;
        /* On a logarithmic axis what is not positive lies on its lower end. What lies far outside is drawn
         * nearer: browsers draw a line of a million dashes without any. */
        const place = (value) => {
            const part = (log ? Math.log(Math.max(value, low) / low) : value - low) / span;
            return height * (1 - Math.min(Math.max(part, -FAR), FAR));
        };
        return { log, low, high, place, steep, ticks: log ? decadeTicks(low, high, 7) : linearTicks(low, high, 6) };
    }

    function horizontal(curves, width) {
        let high = 0;
        for (const curve of curves)
            for (const list of [curve.points, ...curve.tails])
                for (const point of list) if (Number.isFinite(point[0])) high = Math.max(high, point[0]);
        high = high > 0 ? 1.01 * high : 1; /* room for the last number */
        return { high, place: (value) => (width * value) / high, ticks: linearTicks(0, high, width < 420 ? 4 : 7) };
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
        const wantsLog = LOGARITHMIC.has(chart.y);
        const curves = section.groups
            .filter((group) => !section.hidden.has(group.index))
            .map((group) => Object.assign(series(group, state.x, chart.y, wantsLog), { group }));
        const x = horizontal(curves, width);
        const y = vertical(curves, wantsLog, height, x.high, chart.whole);
        if (wantsLog && !y.log)
            for (const curve of curves) Object.assign(curve, series(curve.group, state.x, chart.y, false));
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
        const choices = section.columns.filter((name) => !AXES.some((axis) => axis[0] === name) && name !== "messages");
        if (choices.length === 0) return;
        /* What a solution is worth says more than its loss, where it was written down. */
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
        const present = AXES.filter((axis) => sections.some((section) => section.columns.includes(axis[0])));
        for (const [column, word] of present) {
            const button = html("button", "", word, bar);
            button.type = "button";
            button.dataset.x = column;
            button.addEventListener("click", () => {
                chooseAxis(column);
                history.replaceState(null, "", "#x=" + word);
            });
        }
        bar.hidden = present.length === 0;
        const asked = present.find((axis) => location.hash === "#x=" + axis[1]);
        if (present.length > 0) chooseAxis((asked || present[0])[0]);
    }

    document.querySelectorAll("section.traces").forEach(makeSection);
    makeSwitch();
    document.documentElement.dataset.ready = "yes";
})();
