// Exposure against rank, and what a threshold would do to the text.

import { element, empty, number, percent, spelled } from "./words.js";

const STEPS = 1000; // of the slider; its scale is logarithmic
const HEIGHT = 380;
const EDGE = { left: 64, right: 12, top: 12, bottom: 44 };

export function curveView(page, query) {
  const { vocabulary, algebra } = page;
  const title = element("h2", {}, "Exposure against rank");
  if (!algebra) {
    return [
      title,
      empty(
        "No exposures in this page",
        "How often tokens occur is not saved with a tokenizer. Write the page again with ",
        element("code", {}, "--run RUN_DIR"),
        " or ",
        element("code", {}, "--corpus PATH"),
        ".",
      ),
    ];
  }
  const most = algebra.exposures.reduce((a, b, rank) => (rank < 256 ? a : Math.max(a, b)), 1);
  const start = Number(query.threshold ?? sameSize(page));
  const canvas = element("canvas", { role: "img", tabindex: 0 });
  const near = element("p", { class: "near soft", "aria-live": "polite" });
  const slider = element("input", {
    type: "range",
    id: "threshold",
    min: 0,
    max: STEPS,
    step: 1,
    "aria-label": "Threshold",
  });
  const exact = element("input", { type: "number", id: "exact", min: 0, max: most + 1, step: 1 });
  const outcome = element("div", { class: "figures", "aria-live": "polite" });
  const toStep = (value) => Math.round((STEPS * Math.log1p(value)) / Math.log1p(most + 1));
  const toValue = (step) => Math.round(Math.expm1((step / STEPS) * Math.log1p(most + 1)));
  let threshold = Math.min(Math.max(0, Math.floor(start) || 0), most + 1);

  const plot = new Plot(canvas, vocabulary, algebra.exposures, most);
  const redraw = () => {
    plot.draw(threshold);
    const { visible, hidden, length, standard } = algebra.atThreshold(threshold);
    slider.setAttribute("aria-valuetext", `exposure ${number(threshold)}`);
    const figure = (id, name, value, note) =>
      element(
        "div",
        { class: "figure" },
        element("p", { class: "soft" }, name),
        element("p", { class: "value", id }, value),
        element("p", { class: "soft" }, note),
      );
    outcome.replaceChildren(
      figure("visible", "Visible tokens", number(visible), `256 bytes and ${number(visible - 256)} learned`),
      figure("hidden", "Internal tokens", number(hidden), `with an exposure below ${number(threshold)}`),
      figure(
        "total",
        "Tokens of the text",
        number(length),
        `${(algebra.totalBytes / length).toFixed(3)} bytes per token`,
      ),
      figure(
        "standard",
        "Standard BPE of that size",
        number(standard),
        length === standard
          ? "needs just as many"
          : `the threshold needs ${percent(length, standard).slice(1)} ${length < standard ? "fewer" : "more"}`,
      ),
    );
    canvas.setAttribute(
      "aria-label",
      `Exposure of ${number(vocabulary.size - 256)} learned tokens against rank. ` +
        `${number(hidden)} lie below the threshold ${number(threshold)}. Arrow keys walk along the ranks.`,
    );
  };
  const set = (value, from) => {
    threshold = Math.min(Math.max(0, Math.floor(value) || 0), most + 1);
    if (from !== slider) slider.value = toStep(threshold);
    if (from !== exact) exact.value = threshold;
    redraw();
    page.replaceHash(`#/curve?threshold=${threshold}`);
  };
  slider.addEventListener("input", () => set(toValue(Number(slider.value)), slider));
  exact.addEventListener("input", () => set(Number(exact.value), exact));
  const pick = (rank) => {
    plot.marked = rank;
    plot.draw(threshold);
    near.replaceChildren(
      element("span", { class: "token flat" }, element("bdi", {}, spelled(vocabulary.bytes(rank)))),
      ` rank ${number(rank)}, exposure ${number(algebra.exposures[rank])}, ${vocabulary.visible[rank] ? "visible" : "internal"}`,
    );
  };
  canvas.addEventListener("pointermove", (event) => {
    const rank = plot.nearest(event.offsetX, event.offsetY);
    if (rank) pick(rank);
  });
  canvas.addEventListener("click", () => {
    if (plot.marked) location.hash = `#/token/${vocabulary.ids[plot.marked]}`;
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, PageUp: 100, PageDown: -100 }[event.key];
    if (step) pick(Math.min(Math.max((plot.marked ?? 255) + step, 256), vocabulary.size - 1));
    else if (event.key === "Enter" && plot.marked) location.hash = `#/token/${vocabulary.ids[plot.marked]}`;
    else return;
    event.preventDefault();
  });
  near.textContent = "Point at the plot to see a token.";
  page.whileShown(new ResizeObserver(() => plot.draw(threshold)), canvas);
  matchMedia("(prefers-color-scheme: dark)").onchange = () => plot.draw(threshold);
  queueMicrotask(() => set(threshold));
  const byRank =
    vocabulary.about.segmentation === "shortest"
      ? " This tokenizer takes the fewest tokens; the plot and the totals are those of merging by rank."
      : "";
  return [
    title,
    element(
      "p",
      { class: "lead" },
      "Each point is a learned token: how often it stands in the text after all merges. ",
      `Move the threshold to hide everything below it.${byRank}`,
    ),
    element(
      "p",
      { class: "soft" },
      `As it is, this tokenizer shows ${number(vocabulary.standardSize)} bytes and learned tokens and hides `,
      `${number(vocabulary.internal)}. By rank, the text has ${number(algebra.length)} tokens, `,
      `${percent(algebra.length, algebra.lengths[vocabulary.required])} beside Standard BPE of that size.`,
    ),
    element(
      "div",
      { class: "threshold" },
      element("label", { for: "threshold" }, "Threshold"),
      slider,
      element("label", { for: "exact", class: "unseen" }, "Threshold as a number"),
      exact,
    ),
    outcome,
    element(
      "figure",
      {},
      canvas,
      element(
        "figcaption",
        {},
        near,
        element(
          "ul",
          { class: "legend" },
          element("li", {}, element("span", { class: "dot visible" }), "visible"),
          element("li", {}, element("span", { class: "dot internal" }), "internal"),
          element("li", {}, element("span", { class: "dash" }), "threshold"),
        ),
      ),
    ),
  ];
}

// The threshold that leaves about as many tokens visible as the tokenizer has.
function sameSize({ vocabulary, algebra }) {
  const falling = algebra.exposures.slice(256).sort().reverse();
  return falling[vocabulary.required - 1] ?? 0;
}

class Plot {
  constructor(canvas, vocabulary, exposures, most) {
    Object.assign(this, { canvas, vocabulary, exposures, marked: null });
    this.top = 10 ** Math.ceil(Math.log10(most + 1));
  }

  // Zero has a place of its own below one.
  y(value) {
    const share = value < 1 ? 0 : 0.06 + 0.94 * (Math.log10(value) / Math.log10(this.top));
    return EDGE.top + (HEIGHT - EDGE.top - EDGE.bottom) * (1 - share);
  }

  x(rank) {
    return (
      EDGE.left +
      ((this.width - EDGE.left - EDGE.right) * (rank - 256)) / Math.max(1, this.vocabulary.size - 256)
    );
  }

  draw(threshold) {
    const { canvas, vocabulary, exposures } = this;
    this.width = canvas.clientWidth;
    if (!this.width) return;
    const scale = devicePixelRatio || 1;
    canvas.width = this.width * scale;
    canvas.height = HEIGHT * scale;
    const brush = canvas.getContext("2d");
    brush.scale(scale, scale);
    const style = getComputedStyle(canvas);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    this.#axes(brush, colour);
    const size = vocabulary.size > 5000 ? 1.6 : 3;
    for (const [state, name] of [
      [1, "visible"],
      [0, "internal"],
    ]) {
      brush.fillStyle = colour(`point-${name}`);
      for (let rank = 256; rank < vocabulary.size; rank++) {
        if (vocabulary.visible[rank] !== state) continue;
        brush.globalAlpha = exposures[rank] < threshold ? 0.35 : 0.9;
        brush.fillRect(this.x(rank) - size / 2, this.y(exposures[rank]) - size / 2, size, size);
      }
    }
    brush.globalAlpha = 1;
    brush.strokeStyle = colour("ink");
    brush.setLineDash([6, 4]);
    brush.lineWidth = 1.5;
    const level = Math.round(this.y(threshold)) + 0.5;
    brush.beginPath();
    brush.moveTo(EDGE.left, level);
    brush.lineTo(this.width - EDGE.right, level);
    brush.stroke();
    brush.setLineDash([]);
    if (this.marked) {
      brush.beginPath();
      brush.arc(this.x(this.marked), this.y(exposures[this.marked]), 6, 0, 7);
      brush.stroke();
    }
  }

  #axes(brush, colour) {
    brush.font = "13px system-ui, sans-serif";
    brush.fillStyle = colour("soft");
    brush.strokeStyle = colour("line");
    brush.textAlign = "right";
    brush.textBaseline = "middle";
    for (const value of [0, ...Array.from({ length: Math.log10(this.top) + 1 }, (_, i) => 10 ** i)]) {
      const y = this.y(value);
      brush.fillRect(EDGE.left - 4, y, 4, 1);
      const text = value >= 1e6 ? `${value / 1e6}M` : value >= 1000 ? `${value / 1000}k` : String(value);
      brush.fillText(text, EDGE.left - 8, y);
      brush.beginPath();
      brush.moveTo(EDGE.left, y);
      brush.lineTo(this.width - EDGE.right, y);
      brush.stroke();
    }
    brush.textAlign = "center";
    const last = this.vocabulary.size;
    const rough = last / Math.max(2, Math.floor(this.width / 95));
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
    for (let rank = step; rank < last; rank += step)
      brush.fillText(number(rank), this.x(rank), HEIGHT - EDGE.bottom + 14);
    brush.fillText("rank", (EDGE.left + this.width - EDGE.right) / 2, HEIGHT - 10);
    brush.save();
    brush.translate(12, (HEIGHT - EDGE.bottom) / 2);
    brush.rotate(-Math.PI / 2);
    brush.fillText("exposure", 0, 0);
    brush.restore();
  }

  // The token nearest to a place, or null.
  nearest(x, y) {
    let best = null;
    let distance = 20 ** 2;
    for (let rank = 256; rank < this.vocabulary.size; rank++) {
      const across = this.x(rank) - x;
      if (Math.abs(across) > 20) continue;
      const found = across ** 2 + (this.y(this.exposures[rank]) - y) ** 2;
      if (found < distance) {
        distance = found;
        best = rank;
      }
    }
    return best;
  }
}
