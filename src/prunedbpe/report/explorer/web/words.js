// How the page writes things: elements, numbers, tokens with visible spaces, and their tooltip.

import { decoded, hexOf } from "./unpacking.js";

// An element: element("a", { href: "#", class: "x", onclick: f }, "text", child, ...).
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== undefined && value !== null) made.setAttribute(key, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}

export function number(value) {
  return Math.round(value).toLocaleString("en-US").replace("-", "−");
}

// A change in per cent, with its sign: fewer tokens are negative.
export function percent(value, base, digits = 2) {
  if (!base) return "–";
  const share = (100 * (value - base)) / base;
  const text = Math.abs(share).toFixed(digits);
  return `${Number(text) === 0 ? "±" : share < 0 ? "−" : "+"}${text} %`;
}

export function plural(count, noun) {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

const MARKS = { " ": "·", "\n": "↵", "\t": "⇥", "\r": "␍", "\u00a0": "⍽", "\u3000": "□" };

// Text with visible white space and control characters; bytes that are not UTF-8 in hexadecimal.
export function spelled(bytes) {
  const text = decoded(bytes);
  if (text === null) return [element("span", { class: "hex" }, hexOf(bytes).toUpperCase())];
  return visibleText(text);
}

export function visibleText(text) {
  const parts = [];
  for (const part of text.split(/([\p{Z}\p{C}])/u)) {
    if (!part) continue;
    if (!/^[\p{Z}\p{C}]$/u.test(part)) {
      parts.push(part);
      continue;
    }
    const code = part.codePointAt(0).toString(16).toUpperCase();
    parts.push(element("span", { class: "mark" }, MARKS[part] ?? `U+${code.padStart(4, "0")}`));
  }
  return parts;
}

// A line of plain text for labels and files.
export function plain(vocabulary, rank) {
  return vocabulary.text(rank) ?? `<${vocabulary.hex(rank).toUpperCase()}>`;
}

// A token as a link to its page. Marks combine with the character before: isolate each token.
export function chip(vocabulary, rank, classes = "", attributes = {}) {
  const state = vocabulary.visible[rank] ? "" : " internal";
  return element(
    "a",
    {
      class: `token${state} ${classes}`,
      href: `#/token/${vocabulary.ids[rank]}`,
      "data-rank": rank,
      ...attributes,
    },
    element("bdi", {}, spelled(vocabulary.bytes(rank))),
  );
}

export function chips(vocabulary, ranks) {
  return element(
    "span",
    { class: "chips" },
    Array.from(ranks, (rank) => chip(vocabulary, rank)),
  );
}

// Long lists begin with a few, and a button shows the others.
export function shortened(items, make, most = 60) {
  const list = element("div", { class: "chips" }, items.slice(0, most).map(make));
  if (items.length > most) {
    const more = element("button", { type: "button", class: "more" }, `Show all ${number(items.length)}`);
    more.addEventListener("click", () => {
      const rest = items.slice(most, 5000).map(make);
      more.replaceWith(...rest);
      rest[0].focus?.();
    });
    list.append(more);
  }
  return list;
}

export function facts(rows) {
  return element(
    "dl",
    { class: "facts" },
    rows
      .filter(Boolean)
      .map(([term, ...value]) => element("div", {}, element("dt", {}, term), element("dd", {}, value))),
  );
}

export function empty(title, ...text) {
  return element("div", { class: "empty" }, element("h3", {}, title), element("p", {}, text));
}

export function download(name, rows) {
  const quoted = (cell) => {
    const text = String(cell ?? "");
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = rows.map((row) => row.map(quoted).join(",")).join("\r\n");
  const url = URL.createObjectURL(new Blob([`${csv}\r\n`], { type: "text/csv" }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// One tooltip for every element with data-rank, by pointer and by keyboard. Escape closes it.
export function installTooltip(page) {
  const tip = element("div", { id: "tip", role: "tooltip", hidden: true });
  document.body.append(tip);
  let owner = null;
  const hide = () => {
    tip.hidden = true;
    owner?.removeAttribute("aria-describedby");
    owner = null;
  };
  const show = (event) => {
    const found = event.target.closest?.("[data-rank]");
    if (!found) {
      hide();
      return;
    }
    if (found === owner) return;
    hide();
    owner = found;
    const inner = page.vocabularyOf(found);
    tip.replaceChildren(...described(page, inner, Number(found.dataset.rank), found.dataset.via));
    tip.hidden = false;
    owner.setAttribute("aria-describedby", "tip");
    const box = found.getBoundingClientRect();
    const below = box.bottom + tip.offsetHeight + 12 < innerHeight;
    tip.style.top = `${scrollY + (below ? box.bottom + 6 : box.top - tip.offsetHeight - 6)}px`;
    const most = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(box.left, most))}px`;
  };
  document.addEventListener("pointerover", show);
  document.addEventListener("focusin", show);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  document.addEventListener("input", hide); // the token may be gone
  addEventListener("hashchange", hide);
}

// What the tooltip says about a token; `via` is the internal rank for which it stands.
function described(page, vocabulary, rank, via) {
  const names = (ranks) =>
    ranks.flatMap((part, i) => [
      i ? " " : "",
      element("span", { class: "token flat" }, element("bdi", {}, spelled(vocabulary.bytes(part)))),
    ]);
  const rows = [
    ["Bytes", element("span", { class: "mono" }, vocabulary.hex(rank))],
    [
      "Built from",
      ...(rank < 256 ? ["a single byte"] : names([vocabulary.left(rank), vocabulary.right(rank)])),
    ],
    ["Token id", String(vocabulary.ids[rank])],
    ["Rank", number(rank)],
  ];
  if (!vocabulary.visible[rank])
    rows.push(["Internal", "expands into ", ...names(page.standIns(vocabulary, rank))]);
  if (via !== undefined) rows.push(["Stands for", ...names([Number(via)]), " (internal)"]);
  const exposure = vocabulary === page.vocabulary ? page.exposureOf(rank) : undefined;
  if (exposure !== undefined) rows.push(["Exposure", number(exposure)]);
  return [
    element("strong", { class: "token flat large" }, element("bdi", {}, spelled(vocabulary.bytes(rank)))),
    facts(rows),
  ];
}
