// The library's encoder in small: cut text into chunks, chunks into ranks. Tested to be equal.

const utf8 = new TextEncoder();

export class Encoder {
  constructor(vocabulary) {
    this.vocabulary = vocabulary;
    const { pattern, replaced = [] } = vocabulary.about;
    if (pattern === undefined) return; // `reason` says why the page cannot cut like the library
    this.pattern = new RegExp(pattern, "gu");
    const escaped = (point) => `\\u{${point.toString(16)}}`;
    const ranges = replaced.map(([first, last]) => `${escaped(first)}-${escaped(last)}`);
    this.replaced = ranges.length ? new RegExp(`[${ranges.join("")}]`, "gu") : null;
    this.rankOfPair = new Map();
    for (let rank = 256; rank < vocabulary.size; rank++) {
      this.rankOfPair.set(key(vocabulary.left(rank), vocabulary.right(rank)), rank);
    }
  }

  // The chunks of a text as bytes.
  chunks(text) {
    const { nfc, replaced } = this.vocabulary.about;
    text = text.toWellFormed();
    if (nfc) text = text.normalize("NFC");
    // A character newer than the original's Unicode is cut as one of its former class.
    const cut = !this.replaced
      ? text
      : text.replace(this.replaced, (character) => {
          const point = character.codePointAt(0);
          return replaced.find(([first, last]) => first <= point && point <= last)[2];
        });
    const chunks = [];
    for (const { 0: match, index } of cut.matchAll(this.pattern)) {
      chunks.push(utf8.encode(text.slice(index, index + match.length)));
    }
    return chunks;
  }

  // Ranks by the first merges: Standard BPE of the same size.
  standard(chunks) {
    return chunks.flatMap((chunk) => merge(chunk, this.rankOfPair, this.vocabulary.standardSize));
  }

  // Ranks by all merges, internal ones not yet expanded.
  merged(chunks) {
    return chunks.flatMap((chunk) => merge(chunk, this.rankOfPair, this.vocabulary.size));
  }

  // The fewest visible tokens; of several ways, the one with the longest last token, and so on.
  shortest(chunks, banned = -1) {
    this.trie ??= backwardTrie(this.vocabulary);
    return chunks.flatMap((chunk) => fewest(chunk, this.trie, banned));
  }

  // The tokenizer's own segmentation, visible ranks only.
  own(chunks) {
    if (this.vocabulary.about.segmentation === "shortest") return this.shortest(chunks);
    return this.merged(chunks).flatMap((rank) => this.vocabulary.expand(rank));
  }
}

function key(left, right) {
  return left * 0x200000 + right;
}

// Always the lowest-ranked adjacent pair, the leftmost if tied. A heap of candidates over a linked
// list: n log n, because without a pretokenizer the whole text is one chunk.
function merge(chunk, rankOfPair, size) {
  const ranks = Array.from(chunk);
  const count = ranks.length;
  const next = ranks.map((_, i) => i + 1);
  const previous = ranks.map((_, i) => i - 1);
  const heap = [];
  const offer = (place) => {
    if (place < 0 || next[place] >= count) return;
    const rank = rankOfPair.get(key(ranks[place], ranks[next[place]]));
    if (rank < size) push(heap, rank * 0x4000000 + place);
  };
  for (let place = 0; place < count; place++) offer(place);
  while (heap.length) {
    const best = pop(heap);
    const place = best % 0x4000000;
    const rank = (best - place) / 0x4000000;
    const after = next[place];
    // Stale, unless the two tokens are still there and still make this rank.
    if (ranks[place] < 0 || after >= count) continue;
    if (rankOfPair.get(key(ranks[place], ranks[after])) !== rank) continue;
    ranks[place] = rank;
    ranks[after] = -1;
    next[place] = next[after];
    if (next[place] < count) previous[next[place]] = place;
    offer(previous[place]);
    offer(place);
  }
  return ranks.filter((rank) => rank >= 0);
}

function push(heap, value) {
  let at = heap.length;
  while (at > 0) {
    const above = (at - 1) >> 1;
    if (heap[above] <= value) break;
    heap[at] = heap[above];
    at = above;
  }
  heap[at] = value;
}

function pop(heap) {
  const least = heap[0];
  const value = heap.pop();
  if (!heap.length) return least;
  let at = 0;
  for (;;) {
    let below = 2 * at + 1;
    if (below >= heap.length) break;
    if (below + 1 < heap.length && heap[below + 1] < heap[below]) below++;
    if (heap[below] >= value) break;
    heap[at] = heap[below];
    at = below;
  }
  heap[at] = value;
  return least;
}

// The visible strings, spelled backwards: node * 256 + byte -> node, and the rank that ends there.
function backwardTrie(vocabulary) {
  const steps = new Map();
  const rankAt = [-1];
  for (let rank = 0; rank < vocabulary.size; rank++) {
    if (!vocabulary.visible[rank]) continue;
    const bytes = vocabulary.bytes(rank);
    let node = 0;
    for (let i = bytes.length - 1; i >= 0; i--) {
      const step = node * 256 + bytes[i];
      node = steps.get(step);
      if (node === undefined) {
        node = rankAt.push(-1) - 1;
        steps.set(step, node);
      }
    }
    rankAt[node] = rank;
  }
  return { steps, rankAt };
}

function fewest(chunk, { steps, rankAt }, banned) {
  const best = new Uint32Array(chunk.length + 1);
  const last = new Uint32Array(chunk.length + 1);
  const start = new Uint32Array(chunk.length + 1);
  for (let end = 1; end <= chunk.length; end++) {
    best[end] = 0xffffffff;
    let node = 0;
    for (let begin = end - 1; begin >= 0; begin--) {
      node = steps.get(node * 256 + chunk[begin]);
      if (node === undefined) break;
      const rank = rankAt[node];
      if (rank < 0 || rank === banned || best[begin] + 1 > best[end]) continue;
      best[end] = best[begin] + 1; // a tie goes to the longer token, which comes later here
      last[end] = rank;
      start[end] = begin;
    }
  }
  const ranks = [];
  for (let end = chunk.length; end > 0; end = start[end]) ranks.push(last[end]);
  return ranks.reverse();
}
