// The table of all tokens: search, filters, order, export.

import { capital, columnsOf, sorted, stateOf, tableOf } from "./token_table.js";
import { download, element, number, plural } from "./words.js";

const STEP = 100; // rows added at a time

const SEARCHES = [
  ["text", "Text"],
  ["hex", "Hex"],
  ["id", "Id"],
  ["regex", "Regular expression"],
];

export function tokensView(page, query) {
  const state = {
    q: "",
    by: "text",
    state: "all",
    group: "all",
    script: "all",
    sort: page.algebra ? "exposure" : "rank",
    order: "",
    ...query,
  };
  const all = everyToken(page);
  const input = element("input", {
    type: "search",
    id: "q",
    value: state.q,
    placeholder: "Search",
    spellcheck: "false",
    autocomplete: "off",
    "aria-label": "Search",
    "aria-describedby": "found",
  });
  const choose = (name, label, options) => {
    const select = element(
      "select",
      { id: name },
      options.map(([value, text]) => element("option", { value, selected: state[name] === value }, text)),
    );
    select.addEventListener("change", () => {
      state[name] = select.value;
      if (name === "sort") state.order = "";
      draw();
    });
    return element("label", { class: "choice" }, element("span", {}, label), select);
  };
  const named = (names) => [["all", "All"], ...names.map((name) => [name, capital(name)])];
  const columns = columnsOf(page);
  const found = element("p", { id: "found", role: "status" });
  const table = element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Tokens" });
  const more = element("button", { type: "button", class: "more" });
  let rows = [];
  let shown = STEP;
  const export_ = element(
    "button",
    {
      type: "button",
      id: "csv",
      onclick: () =>
        download("tokens.csv", [
          columns.map((column) => column.name),
          ...rows.map((token) => columns.map((column) => column.plain(token))),
        ]),
    },
    "Export CSV",
  );

  const draw = () => {
    shown = STEP;
    const { matches, problem } = matcher(page, state);
    rows = problem
      ? []
      : sorted(
          all.filter((token) => matches(token) && inFilters(page, state, token)),
          columns,
          state,
        );
    found.textContent = problem ?? `${number(rows.length)} of ${plural(all.length, "token")}`;
    found.className = problem ? "bad" : "soft";
    const kept = Object.entries(state).filter(
      ([name, value]) => value && value !== "all" && !(name === "by" && value === "text"),
    );
    page.replaceHash(`#/tokens?${new URLSearchParams(kept)}`);
    drawRows();
  };
  const drawRows = () => {
    table.replaceChildren(
      rows.length
        ? tableOf(rows.slice(0, shown), columns, state, (name) => {
            const current = columns.find((column) => column.key === state.sort);
            const falling = (state.order || current.first) === "falling";
            if (state.sort === name) state.order = falling ? "rising" : "falling";
            else {
              state.sort = name;
              state.order = "";
            }
            page.root.querySelector("#sort").value = name;
            draw();
            table.querySelector(`button[data-key=${name}]`).focus();
          })
        : element("p", { class: "nothing" }, "No token matches. Change the search or the filters."),
    );
    more.hidden = shown >= rows.length;
    more.textContent = `Show ${number(Math.min(STEP, rows.length - shown))} more of ${number(rows.length)}`;
  };
  more.addEventListener("click", () => {
    shown += STEP;
    drawRows();
  });
  let waiting;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      state.q = input.value;
      draw();
    }, 80);
  });
  const by = choose("by", "Search by", SEARCHES);
  queueMicrotask(draw);
  return [
    element("h2", {}, "Tokens"),
    element(
      "form",
      { class: "controls", onsubmit: (event) => event.preventDefault() },
      element("div", { class: "search" }, input, by),
      choose("state", "State", [
        ["all", "All"],
        ["visible", "Visible"],
        ["internal", "Internal"],
        ["special", "Special"],
      ]),
      choose("group", "Group", named(page.header.groups)),
      choose("script", "Script", named(page.header.scripts)),
      choose(
        "sort",
        "Sort by",
        columns.filter((column) => column.value).map((column) => [column.key, column.name]),
      ),
    ),
    element("div", { class: "bar-line" }, found, export_),
    table,
    more,
  ];
}

// Ranks as numbers; special tokens as objects.
function everyToken(page) {
  const special = Object.entries(page.vocabulary.about.special_tokens).map(([text, id]) => ({ text, id }));
  return [...page.vocabulary.visible.keys(), ...special];
}

function inFilters(page, state, token) {
  if (state.state !== "all" && stateOf(page, token) !== state.state) return false;
  if (state.group !== "all" && page.groupOf(token) !== state.group) return false;
  return state.script === "all" || page.scriptOf(token) === state.script;
}

function matcher(page, { q, by }) {
  const { vocabulary } = page;
  const textOf = (token) => (typeof token === "number" ? vocabulary.text(token) : token.text);
  if (!q) return { matches: () => true };
  if (by === "id") {
    if (!/^\s*\d+\s*$/.test(q)) return { problem: "An id is a whole number." };
    return {
      matches: (token) => (typeof token === "number" ? vocabulary.ids[token] : token.id) === Number(q),
    };
  }
  if (by === "hex") {
    const digits = q.replaceAll(/\s|0x/gi, "").toLowerCase();
    if (!/^([0-9a-f]{2})+$/.test(digits))
      return { problem: "Give two hexadecimal digits for each byte, such as e4 b8 ad." };
    const wanted = digits.match(/../g).join(" ");
    return { matches: (token) => typeof token === "number" && vocabulary.hex(token).includes(wanted) };
  }
  if (by === "regex") {
    try {
      const pattern = new RegExp(q, "u");
      return {
        matches: (token) => {
          const text = textOf(token);
          return text !== null && pattern.test(text);
        },
      };
    } catch (error) {
      return { problem: `Not a regular expression: ${error.message.replace(/^.*: /, "")}.` };
    }
  }
  return { matches: (token) => textOf(token)?.includes(q) };
}
