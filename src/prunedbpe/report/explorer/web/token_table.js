// The table of tokens: its columns, its order, and how it is drawn.

import { chip, element, number, plain, visibleText } from "./words.js";

export function stateOf(page, token) {
  if (typeof token !== "number") return "special";
  return page.vocabulary.visible[token] ? "visible" : "internal";
}

export function columnsOf(page) {
  const { vocabulary } = page;
  const ofRank =
    (use, otherwise = "") =>
    (token) =>
      typeof token === "number" ? use(token) : otherwise;
  const numeric = (key, name, value, first = "falling", narrow = false) => ({
    key,
    name,
    value,
    first,
    narrow,
    numeric: true,
    plain: (token) => value(token) ?? "",
    cell: (token) => [
      value(token) === undefined ? "–" : key === "id" ? String(value(token)) : number(value(token)),
    ],
  });
  const columns = [
    {
      key: "token",
      name: "Token",
      narrow: true,
      plain: (token) => (typeof token === "number" ? plain(vocabulary, token) : token.text),
      cell: (token) => [
        typeof token === "number"
          ? chip(vocabulary, token)
          : element("span", { class: "token flat" }, visibleText(token.text)),
      ],
    },
    numeric("id", "Id", (token) => (typeof token === "number" ? vocabulary.ids[token] : token.id), "rising"),
    numeric(
      "rank",
      "Rank",
      ofRank((rank) => rank, undefined),
      "rising",
    ),
    {
      key: "state",
      name: "State",
      narrow: true,
      plain: (token) => stateOf(page, token),
      cell: (token) => [stateOf(page, token)],
    },
    {
      key: "group",
      name: "Group",
      plain: (token) => page.groupOf(token) ?? "",
      cell: (token) => [page.groupOf(token) ?? "–"],
    },
    {
      key: "script",
      name: "Script",
      plain: (token) => page.scriptOf(token) ?? "",
      cell: (token) => [capital(page.scriptOf(token) ?? "–")],
    },
    numeric(
      "length",
      "Bytes",
      ofRank((rank) => vocabulary.length(rank), undefined),
    ),
  ];
  if (page.algebra) {
    columns.push(
      numeric(
        "exposure",
        "Exposure",
        ofRank((rank) => page.exposureOf(rank), undefined),
        "falling",
        true,
      ),
    );
    if (page.knowsWorth)
      columns.push(
        numeric(
          "worth",
          "Worth",
          ofRank((rank) => page.worthOf(rank), undefined),
        ),
      );
  }
  return columns;
}

export function sorted(tokens, columns, state) {
  const column =
    columns.find((one) => one.key === state.sort && one.value) ?? columns.find((one) => one.key === "rank");
  const sign = (state.order || column.first) === "falling" ? -1 : 1;
  const values = new Map(tokens.map((token) => [token, column.value(token)]));
  return tokens.sort((a, b) => {
    const [one, two] = [values.get(a), values.get(b)];
    if (one === undefined || two === undefined) return (one === undefined) - (two === undefined);
    return sign * (one - two);
  });
}

export function tableOf(tokens, columns, state, sortBy) {
  const classes = (column) => [column.numeric ? "n" : "", column.narrow ? "" : "wide-only"].join(" ");
  const head = columns.map((column) => {
    const falling = (state.order || column.first) === "falling";
    const current = state.sort === column.key;
    return element(
      "th",
      {
        scope: "col",
        class: classes(column),
        "aria-sort": current ? (falling ? "descending" : "ascending") : null,
      },
      column.value
        ? element(
            "button",
            { type: "button", "data-key": column.key, onclick: () => sortBy(column.key) },
            column.name,
            current ? (falling ? " ↓" : " ↑") : "",
          )
        : column.name,
    );
  });
  return element(
    "table",
    {},
    element("thead", {}, element("tr", {}, head)),
    element(
      "tbody",
      {},
      tokens.map((token) =>
        element(
          "tr",
          {},
          columns.map((column) => element("td", { class: classes(column) }, column.cell(token))),
        ),
      ),
    ),
  );
}

export function capital(name) {
  return name === name.toUpperCase()
    ? name[0] + name.slice(1).toLowerCase()
    : name[0].toUpperCase() + name.slice(1);
}
