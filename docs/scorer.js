// Search: guides first, development last, and the API first only for what looks like a name of it.
// The other numbers are Sphinx's own (searchtools.js).
const looksLikeName = /[._]/.test(new URLSearchParams(window.location.search).get("q") ?? "");
var Scorer = {
  score: ([page, , , , score]) =>
    score + (page.startsWith("guides/") ? 4 : page.startsWith("development/") ? -4 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: looksLikeName ? 25 : 0, 1: looksLikeName ? 25 : 0, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
