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

    return { table, series, horizontal, vertical };
})();
