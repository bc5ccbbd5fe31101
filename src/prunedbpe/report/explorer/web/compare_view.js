// Two tokenizers: tokens that only one of them shows, and what each source gains.

import {
  chip,
  download,
  element,
  empty,
  number,
  percent,
  plain,
  plural,
  shortened,
  spelled,
} from "./words.js";

const FIRST = 10; // sources shown at first, those with the least gain

export function compareView(page) {
  const { vocabulary, other } = page;
  const name = other ? other.about.name : "Standard BPE of the same size";
  const { hidden, fresh, same } = difference(page);
  const figure = (value, title, note) =>
    element(
      "div",
      { class: "figure" },
      element("p", { class: "soft" }, title),
      element("p", { class: "value" }, number(value)),
      element("p", { class: "soft" }, note),
    );
  return [
    element("h2", {}, `${vocabulary.about.name} beside ${name}`),
    element(
      "p",
      { class: "lead" },
      "Learned tokens by whether a model sees them. Bytes and special tokens are left out.",
    ),
    element(
      "div",
      { class: "figures" },
      figure(hidden.length, "Hidden", `visible only in ${name}`),
      figure(fresh.length, "New", `visible only in ${vocabulary.about.name}`),
      figure(same, "Same", "visible in both"),
    ),
    element("section", {}, element("h3", {}, "Gain of each source"), gains(page, name)),
    list(page, "Hidden", hidden, "No token was hidden."),
    list(page, "New", fresh, "No token is new."),
    element(
      "button",
      {
        type: "button",
        id: "csv",
        onclick: () =>
          download("compared.csv", [
            ["Token", "Change", "Id here", "Id there", "Worth"],
            ...[
              ["hidden", hidden],
              ["new", fresh],
            ].flatMap(([change, tokens]) =>
              tokens.map((token) => [
                plain(token.from, token.fromRank),
                change,
                token.rank === undefined ? "" : vocabulary.ids[token.rank],
                token.otherId ?? "",
                token.worth ?? "",
              ]),
            ),
          ]),
      },
      "Export CSV",
    ),
  ];
}

// Tokens as { rank here, worth, id there, and where they can be spelled from }.
function difference(page) {
  const { vocabulary, other } = page;
  const here = (rank, otherId) => ({
    rank,
    otherId,
    from: vocabulary,
    fromRank: rank,
    worth: page.worthOf(rank),
  });
  const hidden = [];
  const fresh = [];
  let same = 0;
  if (other) {
    const key = (from, rank) => from.hex(rank);
    const places = new Map(
      Array.from({ length: vocabulary.size - 256 }, (_, i) => [key(vocabulary, i + 256), i + 256]),
    );
    const shared = new Set();
    for (let rank = 256; rank < other.size; rank++) {
      if (!other.visible[rank]) continue;
      const place = places.get(key(other, rank));
      if (place === undefined) hidden.push({ otherId: other.ids[rank], from: other, fromRank: rank });
      else if (vocabulary.visible[place]) {
        same++;
        shared.add(place);
      } else hidden.push(here(place, other.ids[rank]));
    }
    for (let rank = 256; rank < vocabulary.size; rank++)
      if (vocabulary.visible[rank] && !shared.has(rank)) fresh.push(here(rank));
  } else {
    // Standard BPE shows the first merges, and its ids are their ranks
    for (let rank = 256; rank < vocabulary.size; rank++) {
      const isStandard = rank < vocabulary.standardSize;
      if (isStandard && vocabulary.visible[rank]) same++;
      else if (isStandard) hidden.push(here(rank, rank));
      else if (vocabulary.visible[rank]) fresh.push(here(rank));
    }
  }
  const valuable = (a, b) => (b.worth ?? -1) - (a.worth ?? -1) || a.fromRank - b.fromRank;
  return { hidden: hidden.sort(valuable), fresh: fresh.sort(valuable), same };
}

function list(page, title, tokens, none) {
  const make = (token) =>
    token.rank === undefined
      ? element(
          "span",
          { class: "token flat absent", title: `id ${token.otherId} there; not built here` },
          element("bdi", {}, spelled(token.from.bytes(token.fromRank))),
        )
      : chip(page.vocabulary, token.rank);
  const absent = tokens.filter((token) => token.rank === undefined).length;
  const note = [
    page.knowsWorth && absent < tokens.length ? "Most valuable first." : "",
    absent ? `${plural(absent, "token")} cannot be built with the merges here.` : "",
  ];
  return element(
    "section",
    {},
    element("h3", {}, `${title} (${number(tokens.length)})`),
    tokens.length
      ? [element("p", { class: "soft" }, note.filter(Boolean).join(" ")), shortened(tokens, make)]
      : element("p", { class: "soft" }, none),
  );
}

function gains(page, name) {
  const { text } = page;
  const before = page.other ? text?.other_lengths : text?.standard_lengths;
  if (!before) {
    return empty(
      "Not measured",
      text?.source_bytes
        ? "The two tokenizers cut text into different chunks, so this page has no lengths for both."
        : ["Write the page again with ", element("code", {}, "--corpus PATH"), " or the run directory."],
    );
  }
  const rows = text.sources.map((source, i) => ({
    source,
    bytes: text.source_bytes[i],
    before: before[i],
    after: text.own_lengths[i],
  }));
  const sum = (field) => rows.reduce((total, row) => total + row[field], 0);
  const total = { source: "All", bytes: sum("bytes"), before: sum("before"), after: sum("after") };
  const gainOf = ({ before: b, after: a }) => (b ? (100 * (b - a)) / b : 0);
  rows.sort((a, b) => gainOf(a) - gainOf(b));
  const most = Math.max(...rows.map((row) => Math.abs(gainOf(row))), 1e-9);
  const line = (row, classes = "") => {
    const gain = gainOf(row);
    return element(
      "tr",
      { class: classes },
      element("th", { scope: "row" }, row.source),
      element("td", { class: "n wide-only" }, number(row.bytes)),
      element("td", { class: "n wide-only" }, number(row.before)),
      element("td", { class: "n wide-only" }, number(row.after)),
      element("td", { class: `n ${gain < 0 ? "bad" : "good"}` }, percent(row.after, row.before)),
      element(
        "td",
        { class: "gain", "aria-hidden": "true" },
        element("span", {
          class: `gain-bar ${gain < 0 ? "loss" : ""}`,
          style: `width: ${(100 * Math.abs(gain)) / most}%`,
        }),
      ),
    );
  };
  const heads = [
    ["Source"],
    ["Bytes", "n wide-only"],
    [page.other ? name : "Standard", "n wide-only"],
    [page.vocabulary.about.name, "n wide-only"],
    ["Tokens", "n"],
    [""],
  ];
  const body = element(
    "tbody",
    {},
    line(total, "total"),
    rows.length > 1 ? rows.slice(0, FIRST).map((row) => line(row)) : null,
  );
  const table = element(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Gain of each source" },
    element(
      "table",
      {},
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          heads.map(([head, classes]) =>
            element(head ? "th" : "td", { scope: head ? "col" : null, class: classes }, head),
          ),
        ),
      ),
      body,
    ),
  );
  const more = element(
    "button",
    { type: "button", class: "more" },
    `Show all ${number(rows.length)} sources`,
  );
  more.addEventListener("click", () => {
    body.append(...rows.slice(FIRST).map((row) => line(row)));
    more.remove();
    table.focus();
  });
  return [
    element("p", { class: "soft" }, "The source that gains least comes first."),
    table,
    rows.length > FIRST ? more : null,
  ];
}
