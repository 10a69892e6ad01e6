/*
 * The page of a report: its sections with two charts each, the switches of the horizontal axis, legends, printing.
 *
 * One horizontal axis (samples, rounds, bytes, seconds, simulated seconds, iterations) governs all charts and tables.
 * #x=rounds in the address chooses it.
 */
"use strict";
(function () {
    const { view, button, about } = Charts;
    /* Columns for the horizontal axis, in the order of the switch. */
    const AXES = ["ifo", "rounds", "bytes", "seconds", "network_seconds", "iteration"];
    const sections = [];
    /* The horizontal axis is logarithmic at first if half of the runs would end in this part of a linear one. */
    const SQUEEZED = 0.05;
    /* The reader's choice of its scale; null: none. */
    let chosenLog = null;

    /* ---- sections ---- */

    function readSection(root) {
        const groups = Array.from(root.querySelectorAll(".legend button")).map((entry, index) => ({
            index,
            button: entry,
            label: entry.dataset.label,
            colour: entry.dataset.colour,
            dashes: entry.dataset.dashes,
            runs: [],
        }));
        for (const link of root.querySelectorAll("a.data"))
            groups[Number(link.dataset.group)].runs.push(Curves.table(link));
        const columns = [];
        for (const group of groups)
            for (const run of group.runs)
                for (const name of Object.keys(run)) if (!columns.includes(name)) columns.push(name);
        return { root, groups, columns, hidden: new Set(), cursor: null, zoom: null, charts: [] };
    }

    /* A column that was measured at the end only, such as the gap, has no curve. */
    function isCurve(section, name) {
        return section.groups.some((group) => group.runs.some((run) => {
            const values = run[name] || [];
            const count = values.filter(Number.isFinite).length;
            return count > 1 || (count === 1 && values.length === 1);
        }));
    }

    function makeSection(root) {
        const section = readSection(root);
        const choices = section.columns.filter((name) =>
            !AXES.includes(name) && name !== "messages" && isCurve(section, name));
        if (choices.length === 0) return;
        /* Outcomes say more than the primal value, and that says more than the loss, which y maximizes. */
        const first = (prefix) => choices.find((name) => name.startsWith(prefix));
        const outcome = first("test_") || first("train_");
        const wanted = ["metric", outcome, "primal", "loss", ...choices];
        const shown = [...new Set(wanted.filter((name) => choices.includes(name)))];
        Array.from(root.querySelectorAll(".chart")).forEach((box, k) => {
            if (shown[k] !== undefined) Charts.make(section, box, shown[k], choices);
            else box.remove();
        });
        for (const group of section.groups)
            group.button.addEventListener("click", () => {
                if (!section.hidden.delete(group.index)) section.hidden.add(group.index);
                group.button.setAttribute("aria-pressed", String(!section.hidden.has(group.index)));
                section.charts.forEach(Charts.draw);
            });
        sections.push(section);
    }

    /* ---- the horizontal axis ---- */

    function isSqueezed(section) {
        const ends = section.groups.flatMap((group) => group.runs.map((run) => run[view.x]))
            .filter((values) => values !== undefined && values.length > 0).map((values) => values[values.length - 1])
            .filter((end) => end > 0);  // centralized algorithms send nothing
        const most = Math.max(...ends);
        return 2 * ends.filter((end) => end < SQUEEZED * most).length >= ends.length && ends.length > 1;
    }

    function showAxis() {
        view.log = chosenLog === null ? sections.some(isSqueezed) : chosenLog;
        for (const entry of document.querySelectorAll(".axes button"))
            entry.setAttribute("aria-pressed", String(entry.dataset.x ? entry.dataset.x === view.x : view.log));
        const costs = document.querySelectorAll(".cost");
        const known = Array.from(costs).some((cost) => cost.dataset.x === view.x);
        costs.forEach((cost) => { cost.hidden = cost.dataset.x !== (known ? view.x : "ifo"); });
        for (const section of sections) {
            section.cursor = null;
            section.zoom = null;
            section.charts.forEach(Charts.draw);
        }
    }

    function makeSwitch() {
        const bar = document.querySelector(".axes");
        const present = AXES.filter((axis) => sections.some((section) => section.columns.includes(axis)));
        for (const column of present) {
            const word = about(column).word;
            button(word, "", bar, () => {
                view.x = column;
                showAxis();
                history.replaceState(null, "", "#x=" + word);
            }).dataset.x = column;
        }
        bar.hidden = present.length === 0;
        if (present.length === 0) return;
        button("log axis", "log axis: scale of the horizontal axis", bar, () => {
            chosenLog = !view.log;
            showAxis();
        }).className = "scale";
        view.x = present.find((axis) => location.hash === "#x=" + about(axis).word) || present[0];
        showAxis();
    }

    /* ---- tables and paper ---- */

    /* A table that is wider than its place can be scrolled by the keyboard. */
    function watchTable(box) {
        new ResizeObserver(() => {
            const wide = box.scrollWidth > box.clientWidth;
            const heading = box.closest(".card").querySelector("h3, summary");
            const label = heading ? heading.textContent : "table";
            for (const [name, value] of [["tabindex", "0"], ["role", "region"], ["aria-label", label]])
                if (wide) box.setAttribute(name, value);
                else box.removeAttribute(name);
        }).observe(box);
    }

    /* What is folded on the screen is unfolded on paper. */
    function unfoldOnPaper() {
        let folded = [];
        addEventListener("beforeprint", () => {
            folded = Array.from(document.querySelectorAll("details:not([open])"));
            folded.forEach((details) => { details.open = true; });
        });
        addEventListener("afterprint", () => folded.forEach((details) => { details.open = false; }));
    }

    document.querySelectorAll("section.traces").forEach(makeSection);
    makeSwitch();
    document.querySelectorAll(".scroll").forEach(watchTable);
    unfoldOnPaper();
    document.documentElement.dataset.ready = "yes";
})();
