// The page of one token: how it is built, what builds on it, where it occurs, what it is worth.

import { chip, chips, element, empty, facts, number, plural, shortened, visibleText } from "./words.js";
import { stateOf } from "./token_table.js";

const DEPTH = 4; // levels of the merge tree that are open

export function tokenView(page, id) {
  const { vocabulary } = page;
  const rank = vocabulary.rankOfId.get(Number(id));
  if (rank === undefined) return specialView(page, Number(id));
  const isVisible = Boolean(vocabulary.visible[rank]);
  const exposure = page.exposureOf(rank);
  return [
    element("p", { class: "soft crumb" }, element("a", { href: "#/tokens" }, "Tokens"), ` / ${id}`),
    element(
      "h2",
      { class: "name" },
      chip(vocabulary, rank, "huge flat", { href: null, "data-rank": null }),
      element("span", { class: `tag ${isVisible ? "" : "warm"}` }, stateOf(page, rank)),
    ),
    facts([
      ["Token id", String(id)],
      ["Rank", number(rank)],
      ["Bytes", element("span", { class: "mono" }, vocabulary.hex(rank))],
      ["Group", page.groupOf(rank)],
      exposure === undefined ? null : ["Exposure", number(exposure)],
      page.worthOf(rank) === undefined ? null : ["Worth", plural(page.worthOf(rank), "token")],
    ]),
    section("In its place", worth(page, rank, isVisible)),
    section("How it is built", element("ul", { class: "tree" }, branch(page, rank, 0))),
    section("What builds on it", above(page, rank)),
    section("Where it occurs", sources(page, rank)),
    section("Example chunks", examples(page, rank)),
  ];
}

function section(title, ...content) {
  return content[0] === null ? null : element("section", {}, element("h3", {}, title), content);
}

function specialView(page, id) {
  const found = Object.entries(page.vocabulary.about.special_tokens).find(([, one]) => one === id);
  if (!found) {
    return [
      element("h2", {}, "No such token"),
      empty(`No token has the id ${id}`, element("a", { href: "#/tokens" }, "Search all tokens"), "."),
    ];
  }
  return [
    element("p", { class: "soft crumb" }, element("a", { href: "#/tokens" }, "Tokens"), ` / ${id}`),
    element(
      "h2",
      { class: "name" },
      element("span", { class: "token flat huge" }, visibleText(found[0])),
      element("span", { class: "tag" }, "special"),
    ),
    element("p", {}, "A reserved token: no merge makes it, and text does not contain it."),
  ];
}

function worth(page, rank, isVisible) {
  const { vocabulary } = page;
  if (rank < 256) return element("p", {}, "A single byte is always visible.");
  const parts = page.standIns(vocabulary, rank);
  const place = element(
    "p",
    {},
    isVisible ? "Hidden, it would become " : "It becomes ",
    chips(vocabulary, parts),
    ".",
  );
  const value = page.worthOf(rank);
  if (value === undefined) return [place];
  const uses = page.flowOf(rank);
  const counted = uses === undefined ? "" : `, met ${number(uses)} times,`;
  return [
    place,
    element(
      "p",
      { class: "soft" },
      isVisible
        ? `This slot of the vocabulary${counted} saves ${plural(value, "token")} of the text.`
        : `A slot of the vocabulary for it${counted} would save ${plural(value, "token")} of the text.`,
    ),
  ];
}

// The merge tree: a token, and below it the two it is made of. Deep parts are folded.
function branch(page, rank, depth) {
  const { vocabulary } = page;
  const exposure = page.exposureOf(rank);
  const label = [
    chip(vocabulary, rank),
    element(
      "span",
      { class: "soft" },
      rank < 256 ? "byte" : `rank ${number(rank)}`,
      exposure === undefined ? "" : ` · exposure ${number(exposure)}`,
    ),
  ];
  if (rank < 256) return element("li", {}, element("div", { class: "node" }, label));
  const make = () =>
    element(
      "ul",
      {},
      branch(page, vocabulary.left(rank), depth + 1),
      branch(page, vocabulary.right(rank), depth + 1),
    );
  if (depth < DEPTH) return element("li", {}, element("div", { class: "node" }, label), make());
  const folded = element("details", {}, element("summary", {}, label));
  folded.addEventListener("toggle", () => folded.append(make()), { once: true });
  return element("li", {}, folded);
}

function above(page, rank) {
  const { vocabulary } = page;
  const all = page.vocabulary.descendants(rank);
  if (!all.length) return element("p", { class: "soft" }, "No token is built on it.");
  const visible = all.filter((one) => vocabulary.visible[one]);
  const direct = vocabulary.parents(rank).length;
  if (page.algebra) all.sort((a, b) => page.exposureOf(b) - page.exposureOf(a) || a - b);
  return [
    element(
      "p",
      { class: "soft" },
      `${plural(all.length, "token")}, ${number(visible.length)} of them visible; ${number(direct)} built from it directly.`,
      page.algebra ? " Most exposed first." : "",
    ),
    shortened(all, (one) => chip(vocabulary, one)),
  ];
}

function sources(page, rank) {
  const { cells } = page;
  if (!cells) return null;
  const [begin, end] = [cells.offsets[rank], cells.offsets[rank + 1]];
  if (begin === end) {
    return element(
      "p",
      { class: "soft" },
      page.isShortest && !page.vocabulary.visible[rank]
        ? "Nowhere: the fewest tokens are visible ones only."
        : "Nowhere in the text: longer tokens took its place.",
    );
  }
  const exposure = page.exposureOf(rank);
  const rows = [];
  for (let cell = begin; cell < end; cell++)
    rows.push([page.text.sources[cells.sources[cell]], cells.exposures[cell]]);
  const rest = exposure - rows.reduce((sum, [, count]) => sum + count, 0);
  const others = cells.all[rank] - rows.length;
  if (others > 0) rows.push([plural(others, "other source"), rest]);
  const most = Math.max(...rows.map(([, count]) => count));
  return element(
    "div",
    { class: "bars", role: "table", "aria-label": "Exposure by source" },
    rows.map(([name, count]) =>
      element(
        "div",
        { class: "bar-row", role: "row" },
        element("span", { role: "rowheader", class: "bar-name" }, name),
        element(
          "span",
          { class: "bar-track", "aria-hidden": "true" },
          element("span", { class: "bar-fill", style: `width: ${(100 * count) / most}%` }),
        ),
        element("span", { role: "cell", class: "n" }, number(count)),
      ),
    ),
  );
}

function examples(page, rank) {
  const { examples } = page;
  if (!examples) return null;
  const [begin, end] = [examples.offsets[rank], examples.offsets[rank + 1]];
  if (begin === end) return null;
  const list = [];
  for (let at = begin; at < end; at++) {
    list.push(
      element(
        "li",
        {},
        element("span", { class: "excerpt" }, element("bdi", {}, marked(page, rank, at))),
        element("span", { class: "soft" }, ` × ${number(examples.counts[at])}`),
      ),
    );
  }
  return [
    element("ul", { class: "examples" }, list),
    element(
      "p",
      { class: "soft" },
      examples.unique[rank] > list.length
        ? `The most frequent of ${number(examples.unique[rank])} different chunks.`
        : "These are all.",
    ),
  ];
}

// An excerpt with the token marked, unless it is a part of a character.
function marked(page, rank, at) {
  const excerpt = page.examples.excerpt(at);
  const text = page.vocabulary.text(rank);
  const start = page.examples.starts[at];
  if (text === null || excerpt.substr(start, text.length) !== text) return visibleText(excerpt);
  return [
    ...visibleText(excerpt.slice(0, start)),
    element("mark", {}, visibleText(text)),
    ...visibleText(excerpt.slice(start + text.length)),
  ];
}
