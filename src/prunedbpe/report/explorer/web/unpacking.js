// The contents of the page, unpacked: a header, typed arrays, and vocabularies made of them.

// base64 of gzip of: size of the header, the header as JSON, arrays. See contents.py.
export async function unpack(base64) {
  const packed = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const unzipped = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(unzipped).arrayBuffer();
  const size = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
  const kinds = { Uint8: Uint8Array, Uint16: Uint16Array, Uint32: Uint32Array, Float64: Float64Array };
  const arrays = {};
  for (const [name, [kind, offset, length]] of Object.entries(header.arrays)) {
    arrays[name] = new kinds[kind](buffer, 8 + size + offset, length);
  }
  return { header, arrays };
}

// Where each of several parts begins, and where the last one ends.
export function offsetsOf(lengths) {
  const offsets = new Uint32Array(lengths.length + 1);
  lengths.forEach((length, i) => {
    offsets[i + 1] = offsets[i] + length;
  });
  return offsets;
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

// Merges, visibility and ids. Ranks are training ranks; a special token has no rank.
export class Vocabulary {
  constructor(about, arrays) {
    this.about = about;
    this.pairs = arrays[`${about.array}.pairs`];
    this.visible = arrays[`${about.array}.visible`];
    this.ids = arrays[`${about.array}.ids`];
    this.size = this.visible.length;
    // Learned tokens that a model sees: Standard BPE of the same size has that many merges.
    this.required = this.visible.reduce((sum, is) => sum + is, 0) - 256;
    this.standardSize = 256 + this.required;
    this.internal = this.size - this.standardSize;
    this.#spell();
    this.rankOfId = new Map(Array.from(this.ids, (id, rank) => [id, rank]));
  }

  #spell() {
    const lengths = new Uint32Array(this.size).fill(1);
    for (let rank = 256; rank < this.size; rank++) {
      lengths[rank] = lengths[this.left(rank)] + lengths[this.right(rank)];
    }
    this.offsets = offsetsOf(lengths);
    this.flat = new Uint8Array(this.offsets[this.size]);
    for (let rank = 0; rank < this.size; rank++) {
      const at = this.offsets[rank];
      if (rank < 256) {
        this.flat[at] = rank;
        continue;
      }
      const left = this.bytes(this.left(rank));
      this.flat.set(left, at);
      this.flat.set(this.bytes(this.right(rank)), at + left.length);
    }
  }

  left(rank) {
    return this.pairs[2 * (rank - 256)];
  }

  right(rank) {
    return this.pairs[2 * (rank - 256) + 1];
  }

  bytes(rank) {
    return this.flat.subarray(this.offsets[rank], this.offsets[rank + 1]);
  }

  length(rank) {
    return this.offsets[rank + 1] - this.offsets[rank];
  }

  // The token as text, or null if its bytes are not UTF-8.
  text(rank) {
    this.texts ??= new Array(this.size);
    if (this.texts[rank] === undefined) this.texts[rank] = decoded(this.bytes(rank));
    return this.texts[rank];
  }

  hex(rank) {
    return hexOf(this.bytes(rank));
  }

  // The visible ranks that stand for a rank; `isVisible` may be another vocabulary's.
  expand(rank, isVisible = (part) => this.visible[part]) {
    const expansion = [];
    const stack = [rank];
    while (stack.length) {
      const part = stack.pop();
      if (part < 256 || isVisible(part)) expansion.push(part);
      else stack.push(this.right(part), this.left(part));
    }
    return expansion;
  }

  // What would stand in the place of a visible token that were hidden; how an internal one expands.
  replacement(rank) {
    if (rank < 256) return [rank];
    return [...this.expand(this.left(rank)), ...this.expand(this.right(rank))];
  }

  // The ranks built directly from a rank.
  parents(rank) {
    if (!this.parentOffsets) {
      const counts = new Uint32Array(this.size);
      const each = (use) => {
        for (let above = 256; above < this.size; above++) {
          const left = this.left(above);
          use(left, above);
          if (this.right(above) !== left) use(this.right(above), above);
        }
      };
      each((part) => {
        counts[part]++;
      });
      this.parentOffsets = offsetsOf(counts);
      this.parentRanks = new Uint32Array(this.parentOffsets[this.size]);
      const next = this.parentOffsets.slice();
      each((part, above) => {
        this.parentRanks[next[part]++] = above;
      });
    }
    return this.parentRanks.subarray(this.parentOffsets[rank], this.parentOffsets[rank + 1]);
  }

  // All ranks built from a rank, at any depth, ascending.
  descendants(rank) {
    const found = new Set();
    const stack = [rank];
    while (stack.length) {
      for (const above of this.parents(stack.pop())) {
        if (!found.has(above)) {
          found.add(above);
          stack.push(above);
        }
      }
    }
    return [...found].sort((a, b) => a - b);
  }
}

export function decoded(bytes) {
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}

export function hexOf(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
}
