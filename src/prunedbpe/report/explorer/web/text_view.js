// Type text: the same text cut in three ways, live.

import { chip, element, empty, number, percent, plural } from "./words.js";

const SAMPLE =
  "Everyone has the right to education. Education shall be free, at least in the elementary stages.\n" +
  "人人都有受教育的权利，教育应当免费。 Каждый человек имеет право на образование.\n" +
  "def __init__(self, value=None):\n    self.value = value";
const MOST_TOKENS = 1500; // drawn in each row; counts are of the whole text
const MOST_CHARACTERS = 100000;

export function textView(page, given) {
  const { vocabulary, encoder } = page;
  if (!encoder.pattern) {
    return [
      element("h2", {}, "Text"),
      empty(
        "Text cannot be cut in this page",
        `The page cuts text only where it is certain to do so like the library. Here it is not: ${vocabulary.about.reason}. `,
        "Use ",
        element("code", {}, "prunedbpe encode"),
        " instead.",
      ),
    ];
  }
  const input = element("textarea", {
    id: "text",
    rows: 4,
    spellcheck: "false",
    autocapitalize: "off",
    maxlength: MOST_CHARACTERS,
  });
  input.value = given || page.lastText || SAMPLE;
  const sizes = element("p", { class: "soft", id: "sizes" });
  const rows = element("div", { class: "rows" });
  let waiting;
  const draw = () => {
    const text = (page.lastText = input.value);
    const chunks = encoder.chunks(text);
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    sizes.textContent = [
      plural(Array.from(text).length, "character"),
      plural(bytes, "byte"),
      plural(chunks.length, "chunk"),
    ].join(" · ");
    const made = cuts(page, text, chunks);
    rows.replaceChildren(...made.map((cut) => row(cut, made[0].tokens.length)));
  };
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(
      () => {
        draw();
        if (input.value.length < 2000)
          page.replaceHash(`#/text/${encodeURIComponent(input.value.toWellFormed())}`);
      },
      input.value.length > 5000 ? 250 : 30,
    );
  });
  draw();
  return [
    element("h2", {}, "How text is cut"),
    element("label", { for: "text", class: "unseen" }, "Text"),
    input,
    sizes,
    rows,
    legend(vocabulary),
  ];
}

// Every way to cut the text: tokens as rank and, for parts of an internal token, the one they stand for.
function cuts(page, text, chunks) {
  const { vocabulary, encoder } = page;
  const own = vocabulary.about.segmentation;
  const pruned = encoder
    .merged(chunks)
    .flatMap((rank) =>
      vocabulary.visible[rank]
        ? [{ rank }]
        : vocabulary.expand(rank).map((part) => ({ rank: part, via: rank })),
    );
  const made = [
    {
      key: "standard",
      title: "Standard",
      note: `Standard BPE with ${number(vocabulary.standardSize)} bytes and learned tokens`,
      tokens: encoder.standard(chunks).map((rank) => ({ rank })),
    },
    {
      key: "pruned",
      title: "Pruned",
      note: "merged by rank, internal tokens expanded",
      tokens: pruned,
      isOwn: own === "rank",
    },
    {
      key: "shortest",
      title: "Shortest",
      note: "the fewest visible tokens",
      tokens: encoder.shortest(chunks).map((rank) => ({ rank })),
      isOwn: own === "shortest",
    },
  ];
  const { other } = page;
  if (other && page.otherEncoder.pattern) {
    made.push({
      key: "other",
      title: other.about.name,
      note: "the tokenizer compared with",
      vocabulary: other,
      tokens: page.otherEncoder.own(page.otherEncoder.chunks(text)).map((rank) => ({ rank })),
    });
  }
  return made.map((cut) => ({ vocabulary, ...cut }));
}

function row({ key, title, note, tokens, isOwn, vocabulary }, standard) {
  const drawn = tokens.slice(0, MOST_TOKENS).flatMap(({ rank, via }, i) => {
    const isNew = key !== "standard" && key !== "other" && rank >= vocabulary.standardSize;
    const classes = [
      i % 2 ? "odd" : "",
      via !== undefined ? "part" : "",
      isNew ? "new" : "",
      via !== undefined && tokens[i - 1]?.via === via ? "joined" : "",
    ].join(" ");
    const made = chip(vocabulary, rank, classes, {
      "data-via": via,
      "data-vocabulary": key === "other" ? "other" : null,
      tabindex: i ? -1 : 0,
      href: key === "other" ? null : `#/token/${vocabulary.ids[rank]}`,
    });
    return vocabulary.bytes(rank).at(-1) === 10 ? [made, element("br")] : [made];
  });
  const rest = tokens.length - MOST_TOKENS;
  const cells = element(
    "div",
    {
      class: "cut",
      role: "group",
      "aria-label": `${title}: ${plural(tokens.length, "token")}`,
      onkeydown: walk,
    },
    drawn,
    rest > 0 ? element("span", { class: "soft" }, ` … ${number(rest)} more`) : null,
  );
  const difference = tokens.length - standard;
  const change =
    key === "standard"
      ? null
      : element(
          "span",
          { class: difference < 0 ? "good" : difference ? "bad" : "soft" },
          difference
            ? `${difference < 0 ? "−" : "+"}${number(Math.abs(difference))} (${percent(tokens.length, standard, 1)})`
            : "the same",
        );
  return element(
    "section",
    { class: "row", "data-row": key },
    element(
      "header",
      {},
      element("h3", {}, title, isOwn ? element("span", { class: "tag" }, "this tokenizer") : null),
      element("p", { class: "soft" }, note),
      element(
        "p",
        { class: "count" },
        element("strong", {}, number(tokens.length)),
        tokens.length === 1 ? " token " : " tokens ",
        change,
      ),
    ),
    cells,
  );
}

// One stop of the Tab key for each row; arrows move inside it.
function walk(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const tokens = [...event.currentTarget.querySelectorAll(".token")];
  const place = tokens.indexOf(document.activeElement);
  let next = step === undefined ? undefined : tokens[place + step];
  if (event.key === "Home") next = tokens[0];
  if (event.key === "End") next = tokens.at(-1);
  if (!next) return;
  event.preventDefault();
  tokens[place]?.setAttribute("tabindex", -1);
  next.setAttribute("tabindex", 0);
  next.focus();
}

function legend(vocabulary) {
  const keys = [
    ["token internal flat", "internal: the model does not see it"],
    ["token part flat", "stands for a part of an internal token"],
    ["token new flat", "not in Standard BPE of this size"],
  ];
  if (!vocabulary.internal) return element("p", { class: "soft" }, "No token of this tokenizer is internal.");
  return element(
    "ul",
    { class: "legend", "aria-label": "Legend" },
    keys.map(([classes, text]) =>
      element("li", {}, element("span", { class: classes, "aria-hidden": "true" }, "ab"), text),
    ),
  );
}
