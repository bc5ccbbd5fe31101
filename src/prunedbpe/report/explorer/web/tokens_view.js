// The table of all tokens: search, filters, order, export.

import { chip, download, element, number, plain, plural, visibleText } from "./words.js";

const STEP = 100; // rows added at a time

const SEARCHES = [["text", "Text"], ["hex", "Hex"], ["id", "Id"], ["regex", "Regular expression"]];

export function tokensView(page, query) {
  const state = { q: "", by: "text", state: "all", group: "all", script: "all", sort: page.algebra ? "exposure" : "rank",
    order: "", ...query };
  const all = everyToken(page);
  const input = element("input", { type: "search", id: "q", value: state.q, placeholder: "Search", spellcheck: "false",
    autocomplete: "off", "aria-label": "Search", "aria-describedby": "found" });
  const choose = (name, label, options) => {
    const select = element("select", { id: name }, options.map(([value, text]) =>
      element("option", { value, selected: state[name] === value }, text)));
    select.addEventListener("change", () => { state[name] = select.value; if (name === "sort") state.order = ""; draw(); });
    return element("label", { class: "choice" }, element("span", {}, label), select);
  };
  const named = (names) => [["all", "All"], ...names.map((name) => [name, capital(name)])];
  const columns = columnsOf(page);
  const found = element("p", { id: "found", role: "status" });
  const table = element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Tokens" });
  const more = element("button", { type: "button", class: "more" });
  let rows = [];
  let shown = STEP;
  const export_ = element("button", { type: "button", id: "csv", onclick: () => download("tokens.csv",
    [columns.map((column) => column.name), ...rows.map((token) => columns.map((column) => column.plain(token)))]) }, "Export CSV");

  const draw = () => {
    shown = STEP;
    const { matches, problem } = matcher(page, state);
    rows = problem ? [] : sorted(all.filter((token) => matches(token) && inFilters(page, state, token)), columns, state);
    found.textContent = problem ?? `${number(rows.length)} of ${plural(all.length, "token")}`;
    found.className = problem ? "bad" : "soft";
    const kept = Object.entries(state).filter(([name, value]) => value && value !== "all" && !(name === "by" && value === "text"));
    page.replaceHash(`#/tokens?${new URLSearchParams(kept)}`);
    drawRows();
  };
  const drawRows = () => {
    table.replaceChildren(rows.length ? tableOf(rows.slice(0, shown), columns, state, (name) => {
      const current = columns.find((column) => column.key === state.sort);
      const falling = (state.order || current.first) === "falling";
      if (state.sort === name) state.order = falling ? "rising" : "falling"; else { state.sort = name; state.order = ""; }
      page.root.querySelector("#sort").value = name;
      draw();
      table.querySelector(`button[data-key=${name}]`).focus();
    }) : element("p", { class: "nothing" }, "No token matches. Change the search or the filters."));
    more.hidden = shown >= rows.length;
    more.textContent = `Show ${number(Math.min(STEP, rows.length - shown))} more of ${number(rows.length)}`;
  };
  more.addEventListener("click", () => { shown += STEP; drawRows(); });
  let waiting;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { state.q = input.value; draw(); }, 80);
  });
  const by = choose("by", "Search by", SEARCHES);
  queueMicrotask(draw);
  return [
    element("h2", {}, "Tokens"),
    element("form", { class: "controls", onsubmit: (event) => event.preventDefault() },
      element("div", { class: "search" }, input, by),
      choose("state", "State", [["all", "All"], ["visible", "Visible"], ["internal", "Internal"], ["special", "Special"]]),
      choose("group", "Group", named(page.header.groups)),
      choose("script", "Script", named(page.header.scripts)),
      choose("sort", "Sort by", columns.filter((column) => column.value).map((column) => [column.key, column.name]))),
    element("div", { class: "bar-line" }, found, export_),
    table, more,
  ];
}

function capital(name) {
  return name === name.toUpperCase() ? name[0] + name.slice(1).toLowerCase() : name[0].toUpperCase() + name.slice(1);
}

// Ranks as numbers; special tokens as objects.
function everyToken(page) {
  const special = Object.entries(page.vocabulary.about.special_tokens).map(([text, id]) => ({ text, id }));
  return [...page.vocabulary.visible.keys(), ...special];
}

export function stateOf(page, token) {
  if (typeof token !== "number") return "special";
  return page.vocabulary.visible[token] ? "visible" : "internal";
}

function inFilters(page, state, token) {
  if (state.state !== "all" && stateOf(page, token) !== state.state) return false;
  if (state.group !== "all" && page.groupOf(token) !== state.group) return false;
  return state.script === "all" || page.scriptOf(token) === state.script;
}

function matcher(page, { q, by }) {
  const { vocabulary } = page;
  const textOf = (token) => typeof token === "number" ? vocabulary.text(token) : token.text;
  if (!q) return { matches: () => true };
  if (by === "id") {
    if (!/^\s*\d+\s*$/.test(q)) return { problem: "An id is a whole number." };
    return { matches: (token) => (typeof token === "number" ? vocabulary.ids[token] : token.id) === Number(q) };
  }
  if (by === "hex") {
    const digits = q.replaceAll(/\s|0x/gi, "").toLowerCase();
    if (!/^([0-9a-f]{2})+$/.test(digits)) return { problem: "Give two hexadecimal digits for each byte, such as e4 b8 ad." };
    const wanted = digits.match(/../g).join(" ");
    return { matches: (token) => typeof token === "number" && vocabulary.hex(token).includes(wanted) };
  }
  if (by === "regex") {
    try {
      const pattern = new RegExp(q, "u");
      return { matches: (token) => { const text = textOf(token); return text !== null && pattern.test(text); } };
    } catch (error) {
      return { problem: `Not a regular expression: ${error.message.replace(/^.*: /, "")}.` };
    }
  }
  return { matches: (token) => textOf(token)?.includes(q) };
}

function columnsOf(page) {
  const { vocabulary } = page;
  const ofRank = (use, otherwise = "") => (token) => (typeof token === "number" ? use(token) : otherwise);
  const numeric = (key, name, value, first = "falling", narrow = false) => ({ key, name, value, first, narrow, numeric: true,
    plain: (token) => value(token) ?? "", cell: (token) => [value(token) === undefined ? "–" : key === "id" ? String(value(token)) : number(value(token))] });
  const columns = [
    { key: "token", name: "Token", narrow: true,
      plain: (token) => (typeof token === "number" ? plain(vocabulary, token) : token.text),
      cell: (token) => [typeof token === "number" ? chip(vocabulary, token)
        : element("span", { class: "token flat" }, visibleText(token.text))] },
    numeric("id", "Id", (token) => (typeof token === "number" ? vocabulary.ids[token] : token.id), "rising"),
    numeric("rank", "Rank", ofRank((rank) => rank, undefined), "rising"),
    { key: "state", name: "State", narrow: true, plain: (token) => stateOf(page, token), cell: (token) => [stateOf(page, token)] },
    { key: "group", name: "Group", plain: (token) => page.groupOf(token) ?? "", cell: (token) => [page.groupOf(token) ?? "–"] },
    { key: "script", name: "Script", plain: (token) => page.scriptOf(token) ?? "", cell: (token) => [capital(page.scriptOf(token) ?? "–")] },
    numeric("length", "Bytes", ofRank((rank) => vocabulary.length(rank), undefined)),
  ];
  if (page.algebra) {
    columns.push(numeric("exposure", "Exposure", ofRank((rank) => page.exposureOf(rank), undefined), "falling", true));
    if (page.knowsWorth) columns.push(numeric("worth", "Worth", ofRank((rank) => page.worthOf(rank), undefined)));
  }
  return columns;
}

function sorted(tokens, columns, state) {
  const column = columns.find((one) => one.key === state.sort && one.value) ?? columns.find((one) => one.key === "rank");
  const sign = (state.order || column.first) === "falling" ? -1 : 1;
  const values = new Map(tokens.map((token) => [token, column.value(token)]));
  return tokens.sort((a, b) => {
    const [one, two] = [values.get(a), values.get(b)];
    if (one === undefined || two === undefined) return (one === undefined) - (two === undefined);
    return sign * (one - two);
  });
}

function tableOf(tokens, columns, state, sortBy) {
  const classes = (column) => [column.numeric ? "n" : "", column.narrow ? "" : "wide-only"].join(" ");
  const head = columns.map((column) => {
    const falling = (state.order || column.first) === "falling";
    const current = state.sort === column.key;
    return element("th", { scope: "col", class: classes(column), "aria-sort": current ? (falling ? "descending" : "ascending") : null },
      column.value ? element("button", { type: "button", "data-key": column.key, onclick: () => sortBy(column.key) },
        column.name, current ? (falling ? " ↓" : " ↑") : "") : column.name);
  });
  return element("table", {}, element("thead", {}, element("tr", {}, head)), element("tbody", {}, tokens.map((token) =>
    element("tr", {}, columns.map((column) => element("td", { class: classes(column) }, column.cell(token)))))));
}
