// Exposure, flow and length of the text for any set of visible tokens, from what each merge did.
// The same formulas as prunedbpe.visibility.exposure; each is one pass over the merges.

export class Algebra {
  constructor(vocabulary, byteCounts, applied) {
    this.vocabulary = vocabulary;
    this.applied = applied;
    this.totalBytes = byteCounts.reduce((sum, count) => sum + count, 0);
    // Tokens of the text after 0, 1, 2, ... merges: Standard BPE of every size.
    this.lengths = new Float64Array(applied.length + 1);
    this.lengths[0] = this.totalBytes;
    applied.forEach((count, i) => {
      this.lengths[i + 1] = this.lengths[i] - count;
    });
    this.exposures = new Float64Array(vocabulary.size);
    this.exposures.set(byteCounts);
    for (let rank = 256; rank < vocabulary.size; rank++) {
      const count = applied[rank - 256];
      this.exposures[rank] += count;
      this.exposures[vocabulary.left(rank)] -= count;
      this.exposures[vocabulary.right(rank)] -= count;
    }
    this.flows = this.flow((rank) => !vocabulary.visible[rank]);
    this.length = this.#expanded((rank) => !vocabulary.visible[rank], this.flows);
  }

  // How often each rank is met while hidden ones are expanded, from the newest to the oldest.
  flow(isHidden) {
    const { vocabulary } = this;
    const flows = this.exposures.slice();
    for (let rank = vocabulary.size - 1; rank >= 256; rank--) {
      if (isHidden(rank)) {
        flows[vocabulary.left(rank)] += flows[rank];
        flows[vocabulary.right(rank)] += flows[rank];
      }
    }
    return flows;
  }

  // Each expansion turns one token into two.
  #expanded(isHidden, flows) {
    let length = this.lengths[this.applied.length];
    for (let rank = 256; rank < flows.length; rank++) {
      if (isHidden(rank)) length += flows[rank];
    }
    return length;
  }

  // What becomes of the text if just the tokens with this exposure are visible.
  atThreshold(minExposure) {
    const isHidden = (rank) => this.exposures[rank] < minExposure;
    let hidden = 0;
    for (let rank = 256; rank < this.vocabulary.size; rank++) hidden += isHidden(rank);
    const required = this.applied.length - hidden;
    return {
      visible: 256 + required,
      hidden,
      length: this.#expanded(isHidden, this.flow(isHidden)),
      standard: this.lengths[required],
    };
  }
}
