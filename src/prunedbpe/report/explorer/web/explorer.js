// The page: unpack the contents, then show the view that the address names.

import { Algebra } from "./algebra.js";
import { compareView } from "./compare_view.js";
import { curveView } from "./curve_view.js";
import { Encoder } from "./encoder.js";
import { textView } from "./text_view.js";
import { tokenView } from "./token_view.js";
import { tokensView } from "./tokens_view.js";
import { Vocabulary, offsetsOf, unpack } from "./unpacking.js";
import { element, installTooltip, number, percent, plural } from "./words.js";

const VIEWS = [
  ["text", "Text"],
  ["tokens", "Tokens"],
  ["curve", "Curve"],
  ["compare", "Compare"],
];

// What the views share.
class Page {
  constructor({ header, arrays }) {
    this.header = header;
    this.text = header.text;
    this.root = document.querySelector("main");
    this.vocabulary = new Vocabulary(header.tokenizer, arrays);
    this.encoder = new Encoder(this.vocabulary);
    this.other = header.against ? new Vocabulary(header.against, arrays) : null;
    this.otherEncoder = this.other ? new Encoder(this.other) : null;
    this.arrays = arrays;
    this.algebra = arrays.applied ? new Algebra(this.vocabulary, arrays.bytes, arrays.applied) : null;
    this.isShortest = header.tokenizer.segmentation === "shortest";
    this.knowsWorth = Boolean(this.algebra && (!this.isShortest || arrays.worths));
    if (arrays["cells.per_rank"]) {
      this.cells = {
        offsets: offsetsOf(arrays["cells.per_rank"]),
        sources: arrays["cells.sources"],
        exposures: arrays["cells.exposures"],
        all: arrays["cells.all"],
      };
    }
    if (arrays["examples.per_rank"]) {
      const places = offsetsOf(arrays["examples.excerpts.lengths"]);
      const texts = arrays["examples.excerpts.utf8"];
      this.examples = {
        offsets: offsetsOf(arrays["examples.per_rank"]),
        counts: arrays["examples.counts"],
        unique: arrays["examples.unique"],
        starts: arrays["examples.starts"],
        excerpt: (at) => new TextDecoder().decode(texts.subarray(places[at], places[at + 1])),
      };
    }
  }

  // Occurrences in the text, in the tokenizer's own segmentation.
  exposureOf(rank) {
    return this.arrays.uses
      ? this.arrays.uses[rank]
      : this.isShortest
        ? undefined
        : this.algebra?.exposures[rank];
  }

  // How often a rank is met while internal ones are expanded; only by rank.
  flowOf(rank) {
    return this.isShortest ? undefined : this.algebra?.flows[rank];
  }

  // Tokens of the text that its slot saves, or that a slot would save. Bytes are never hidden.
  worthOf(rank) {
    if (!this.knowsWorth || rank < 256) return undefined;
    if (this.isShortest) return this.arrays.worths[rank];
    return this.algebra.flows[rank] * (this.vocabulary.replacement(rank).length - 1);
  }

  // The visible ranks that stand for an internal token, or would stand for a visible one.
  standIns(vocabulary, rank) {
    const encoder = vocabulary === this.other ? this.otherEncoder : this.encoder;
    if (vocabulary.about.segmentation === "shortest") return encoder.shortest([vocabulary.bytes(rank)], rank);
    return vocabulary.replacement(rank);
  }

  groupOf(token) {
    return typeof token === "number" ? this.header.groups[this.arrays.groups[token]] : undefined;
  }

  scriptOf(token) {
    return typeof token === "number" ? this.header.scripts[this.arrays.scripts[token]] : undefined;
  }

  vocabularyOf(part) {
    return part.dataset.vocabulary === "other" ? this.other : this.vocabulary;
  }

  // Keep the address up to date without a step in the history.
  replaceHash(hash) {
    if (location.hash !== hash) history.replaceState(null, "", hash);
  }

  // Observe an element until another view is shown.
  whileShown(observer, observed) {
    this.observer = observer;
    observer.observe(observed);
  }

  show() {
    this.observer?.disconnect();
    this.observer = null;
    const [path, search = ""] = location.hash.replace(/^#\/?/, "").split("?");
    const [name, ...rest] = path.split("/");
    const query = Object.fromEntries(new URLSearchParams(search));
    const argument = safelyDecoded(rest.join("/"));
    const views = {
      text: () => textView(this, argument),
      tokens: () => tokensView(this, query),
      curve: () => curveView(this, query),
      token: () => tokenView(this, argument),
      compare: () => compareView(this),
    };
    const shown = views[name] ? name : "text";
    this.root.replaceChildren(element("div", { class: `view-${shown}` }, views[shown]()));
    for (const link of document.querySelectorAll("nav a")) {
      const current = link.dataset.view === (shown === "token" ? "tokens" : shown);
      if (current) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    const heading = this.root.querySelector("h2");
    heading.setAttribute("tabindex", -1);
    document.title = `${heading.textContent} – ${this.vocabulary.about.name}`;
    return heading;
  }
}

function safelyDecoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function summary(page) {
  const { vocabulary, text } = page;
  const parts = [
    `${number(vocabulary.about.vocab_size)} visible`,
    `${number(vocabulary.internal)} internal`,
    `pretokenizer ${vocabulary.about.pretokenizer}`,
    vocabulary.about.segmentation === "shortest" ? "fewest tokens" : "by rank",
  ];
  if (text) {
    const length = page.isShortest ? text.shortest : page.algebra.length;
    const size =
      page.algebra.totalBytes < 1e6
        ? plural(page.algebra.totalBytes, "byte")
        : `${(page.algebra.totalBytes / 1e6).toFixed(1)} MB`;
    parts.push(`measured on ${text.name}, ${size}`);
    if (length !== undefined) {
      const standard = page.algebra.lengths[vocabulary.standardSize - 256];
      const gain = vocabulary.internal
        ? `, ${percent(length, standard)} against Standard BPE`
        : "";
      parts.push(`${plural(length, "token")}${gain}`);
    }
  }
  return parts.join(" · ");
}

async function start() {
  const page = new Page(await unpack(document.getElementById("contents").textContent));
  document.getElementById("contents").remove();
  document.getElementById("about").textContent = summary(page);
  document
    .querySelector("nav ul")
    .replaceChildren(
      ...VIEWS.map(([name, title]) =>
        element("li", {}, element("a", { href: `#/${name}`, "data-view": name }, title)),
      ),
    );
  installTooltip(page);
  addEventListener("hashchange", () => {
    const heading = page.show();
    scrollTo(0, 0);
    heading.focus({ preventScroll: true });
  });
  document.querySelector(".skip").addEventListener("click", (event) => {
    // a fragment would be taken for a view
    event.preventDefault();
    page.root.focus();
  });
  page.show();
  globalThis.explorer = page; // for the tests, and for the curious
}

start().catch((error) => {
  document
    .querySelector("main")
    .replaceChildren(
      element("p", { class: "bad" }, `This page needs a browser of 2023 or later: ${error.message}`),
    );
  throw error;
});
