/*
 * The numbers behind the charts of a report: data, means with bands, axes. The data are the CSV files
 * behind the page's download links; nothing else is read, and nothing is asked of the network.
 */
"use strict";
const Curves = (function () {
    /* What comes after this share of the horizontal axis is late; a range of late values below this share of
     * all is what a steep start leaves. */
    const LATE = 0.2;
    const STEEP = 0.1;
    /* Heights of a chart beyond which nothing is told apart. */
    const FAR = 1000;

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

    /* Decades; where there are few, numbers between them. */
    function logTicks(low, high, wanted) {
        const from = Math.ceil(Math.log10(low) - 1e-9);
        const to = Math.floor(Math.log10(high) + 1e-9);
        const step = Math.max(1, Math.ceil((to - from) / wanted));
        const decades = [];
        for (let k = to; k >= from; k -= step) decades.push(Math.pow(10, k));
        if (decades.length > 2) return decades;
        const between = [];
        for (let k = from - 1; k <= to; k++)
            for (const digit of [1, 2, 5]) {
                const tick = digit * Math.pow(10, k);
                if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) between.push(tick);
            }
        return between.length > 2 ? between : linearTicks(low, high, wanted);
    }

    /* From numbers to their share of an axis, 0 at its low end and 1 at its high end, and back. */
    function mapping(low, high, log) {
        const span = log ? Math.log(high / low) : high - low;
        return {
            part: (value) => (log ? Math.log(value / low) : value - low) / span,
            at: (part) => (log ? low * Math.exp(part * span) : low + part * span),
        };
    }

    /* The least and largest value where x is between two numbers. */
    function range(curves, log, from, to) {
        let low = Infinity;
        let high = -Infinity;
        let below = false;
        for (const curve of curves)
            for (const list of [curve.points, ...curve.tails])
                for (const point of list)
                    for (const value of point.slice(1)) {
                        if (!Number.isFinite(value) || !(point[0] >= from && point[0] <= to)) continue;
                        if (log && !(value > 0)) { below = true; continue; }
                        low = Math.min(low, value);
                        high = Math.max(high, value);
                    }
        return { low, high, below };
    }

    /* The ends of a logarithmic axis: decades, unless only a part is shown or there is less than one. */
    function logEnds({ low, high, below }, zoomed) {
        if (zoomed || !(below || high / low >= 10)) {
            const margin = high > low ? Math.pow(high / low, 0.05) : 2;
            return { low: low / margin / (below ? 10 : 1), high: high * margin };
        }
        /* A mean of decades is a decade but for its last digit. */
        return {
            low: Math.pow(10, Math.floor(Math.log10(low) + 1e-9) - (below ? 1 : 0)),
            high: Math.pow(10, Math.ceil(Math.log10(high) - 1e-9)),
        };
    }

    function linearEnds({ low, high }) {
        if (!(low <= high)) return { low: 0, high: 1 };
        if (low === high) {
            const half = 0.5 * Math.abs(low) || 0.5;
            return { low: low - half, high: high + half };
        }
        const margin = 0.05 * (high - low);
        return { low: low - margin, high: high + margin };
    }

    /*
     * The vertical axis over the visible part of a horizontal one. It is logarithmic if that is wanted and the values
     * span a decade or the reader insists. A linear one over values that fall steeply at the start and differ little
     * afterwards would show a line: it shows what comes later, unless all is wanted.
     */
    function vertical(curves, { log: wanted, forced }, height, x, whole) {
        let found = range(curves, wanted, x.low, x.high);
        if (!(found.low <= found.high)) found = range(curves, wanted, -Infinity, Infinity);
        const log = wanted && found.high > 0 && (forced || found.below || found.high / found.low >= 10);
        if (wanted && !log) found = range(curves, false, x.low, x.high);
        const late = range(curves, false, LATE * x.high, Infinity);
        const steep = !log && !x.zoomed && late.high > late.low &&
            late.high - late.low < STEEP * (found.high - found.low);
        if (steep && !whole) found = late;
        const { low, high } = log ? logEnds(found, x.zoomed) : linearEnds(found);
        const map = mapping(low, high, log);
        /* On a logarithmic axis what is not positive lies on its lower end. What lies far outside is drawn
         * nearer: browsers draw a line of a million dashes without any. */
        const place = (value) => {
            const part = map.part(log ? Math.max(value, low) : value);
            return height * (1 - Math.min(Math.max(part, -FAR), FAR));
        };
        return { log, low, high, place, steep, ticks: log ? logTicks(low, high, 7) : linearTicks(low, high, 6) };
    }

    /* The horizontal axis; `zoom` is {low, high} or null for all. What is not positive lies at the left end of a
     * logarithmic one. */
    function horizontal(curves, width, wantsLog, zoom) {
        let least = Infinity;
        let most = 0;
        for (const curve of curves)
            for (const list of [curve.points, ...curve.tails])
                for (const point of list) {
                    if (Number.isFinite(point[0])) most = Math.max(most, point[0]);
                    if (point[0] > 0) least = Math.min(least, point[0]);
                }
        const log = wantsLog && least < most;
        /* On a linear axis, 1% more leaves space for the last number. */
        const full = log ? { low: least, high: most } : { low: 0, high: most > 0 ? 1.01 * most : 1 };
        const { low, high } = zoom || full;
        const map = mapping(low, high, log);
        const wanted = width < 420 ? 4 : 7;
        return {
            low, high, full, log, zoomed: zoom !== null, part: map.part, at: map.at,
            share: mapping(full.low, full.high, log).part,
            place: (value) => width * map.part(log ? Math.max(value, full.low) : value),
            ticks: log ? logTicks(low, high, wanted) : linearTicks(low, high, wanted),
        };
    }

    /* The points between the ends of a horizontal axis, and the next one on either side. */
    function visible(points, x) {
        const from = points.findIndex((point) => point[0] >= x.low);
        let to = points.length - 1;
        while (to >= 0 && !(points[to][0] <= x.high)) to--;
        return points.slice(Math.max((from < 0 ? points.length : from) - 1, 0), to + 2);
    }

    return { table, series, horizontal, vertical, visible };
})();
