// Which pages a search lists first: what explains before what is complete. The numbers other than those of score() are
// Sphinx's own.
var Scorer = {
    score: ([page, , , , score]) => {
        if (page.startsWith("docs/reference/")) return score - 3;
        if (page === "docs/glossary") return score + 3;
        if (/^(CONTRIBUTING|CHANGELOG|docs\/(decisions|reliability))$/.test(page)) return score - 2;
        return score;
    },
    objNameMatch: 11,
    objPartialMatch: 6,
    objPrio: {0: 15, 1: 5, 2: -5},
    objPrioDefault: 0,
    title: 15,
    partialTitle: 7,
    term: 5,
    partialTerm: 2,
};
