// Encoding by rank. Hiding tokens costs nothing: the cache holds visible ids.
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "merges/merge_chunk.hpp"
#include "prunedbpe/interrupt.hpp"
#include "prunedbpe/tokenizer.hpp"
#include "prunedbpe/vocabulary.hpp"
#include "tokenizer/backtracking.hpp"
#include "tokenizer/encode_texts.hpp"
#include "tokenizer/expansions.hpp"
#include "tokenizer/simd/short_merger.hpp"
#include "tokenizer/workspace.hpp"

namespace prunedbpe {
namespace {

struct RankWorkspace : Workspace {
    Backtracker::Scratch backtracking;
    MergeScratch merging;  // for dropout only

    void forget_large() {
        Workspace::forget_large();
        if (is_large(backtracking.dead_ends) || is_large(backtracking.ranks)) backtracking = {};
        if (is_large(merging.ranks)) merging = {};
    }
};

/// Asked only about chunks that the cache does not know. Usually empty, in imported vocabularies some hundred.
class WholeChunks {
public:
    explicit WholeChunks(std::span<const WholeChunk> chunks) {
        for (const auto& [bytes, id] : chunks) {
            check_ids({&id, 1});
            ids_.emplace(bytes, id);
        }
    }

    /// Appends the token of a chunk that is one.
    bool append(std::string_view chunk, IdBuffer& ids) const {
        if (ids_.empty()) [[likely]] return false;
        const auto found = ids_.find(chunk);
        if (found == ids_.end()) return false;
        ids.append({&found->second, 1});
        return true;
    }

private:
    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> ids_;
};

}  // namespace

struct Encoder::Parts {
    Parts(std::span<const Merge> merges, const IdListsView& lists, NextChunk scanner,
          std::span<const WholeChunk> whole)
        : lookup(merges),
          expansions(lists.ids, lists.offsets),
          backtracker(lookup, merges, spell(merges), expansions),
          short_merger(merges, expansions),
          whole_chunks(whole),
          next(scanner),
          append_text(find_loop(scanner)) {}

    struct Split {
        const Parts& parts;
        Backtracker::Scratch& scratch;

        void append_short(const ShortChunkCache::Key& key, std::string_view chunk, IdBuffer& ids) const {
            if (parts.whole_chunks.append(chunk, ids)) return;
            if (const std::uint32_t* const id_end = parts.short_merger.encode(key, ids.room(ShortMerger::room))) {
                ids.advance_to(id_end);
            } else {
                parts.backtracker.encode(chunk, scratch, ids);
            }
        }
        void append(std::string_view chunk, IdBuffer& ids) const {
            if (!parts.whole_chunks.append(chunk, ids)) parts.backtracker.encode(chunk, scratch, ids);
        }
    };

    ChunkLoop<Split> loop(std::string_view text, RankWorkspace& work, IdBuffer& ids) const {
        return {work.known, Split{*this, work.backtracking}, text, ids};
    }

    using AppendText = void (*)(ChunkLoop<Split>&& loop);
    static AppendText find_loop(NextChunk scanner) {
        return with_scanner(scanner, []<NextChunk next_chunk>() -> AppendText {
            return [](ChunkLoop<Split>&& loop) { loop.append_text<next_chunk>(); };
        });
    }

    void append_dropout(std::string_view chunk, double probability, std::uint64_t& state, RankWorkspace& work,
                        IdBuffer& ids) const {
        merge_chunk_dropout(lookup, chunk, probability, state, work.merging);
        for (const std::uint32_t rank : work.merging.ranks) ids.append(expansions[rank]);
    }

    void encode(const UnicodeText& unicode, const Dropout& dropout, RankWorkspace& work, IdBuffer& ids) const {
        const std::string_view text = to_utf8(unicode, work.utf8);
        static_cast<void>(ids.room(text.size() / 2 + 16));  // plain text has fewer tokens than that
        if (dropout.probability == 0) {
            append_text(loop(text, work, ids));
            return;
        }
        std::uint64_t state = dropout.seed;
        for_each_chunk(next, text, [&, count = std::size_t{0}](std::string_view chunk) mutable {
            if (++count % poll_rows == 0) poll_interrupt();
            append_dropout(chunk, dropout.probability, state, work, ids);
        });
    }

    MergeLookup lookup;
    Expansions expansions;
    Backtracker backtracker;
    ShortMerger short_merger;
    WholeChunks whole_chunks;
    NextChunk next;
    AppendText append_text;
    mutable WorkspacePool<RankWorkspace> workspaces;
};

Encoder::Encoder(std::span<const Merge> merges, const IdListsView& expansions, NextChunk next,
                 std::span<const WholeChunk> whole_chunks) {
    if (expansions.offsets.size() != byte_count + merges.size() + 1) {
        throw std::invalid_argument("one expansion is needed for every byte and every merge");
    }
    check_ids(expansions.ids);
    parts_ = std::make_unique<Parts>(merges, expansions, next, whole_chunks);
}

Encoder::~Encoder() = default;

void Encoder::encode(const UnicodeText& text, const Dropout& dropout, IdBuffer& ids) const {
    WorkspacePool<RankWorkspace>::Loan work(parts_->workspaces);
    parts_->encode(text, dropout, *work, ids);
}

void Encoder::encode_chunks(std::string_view text, std::span<const std::int64_t> ends, const Dropout& dropout,
                            IdBuffer& ids) const {
    WorkspacePool<RankWorkspace>::Loan work(parts_->workspaces);
    if (dropout.probability == 0) {
        parts_->loop(text, *work, ids).append_chunks(ends);
        return;
    }
    std::uint64_t state = dropout.seed;
    std::size_t begin = 0;
    for (const std::int64_t chunk_end : ends) {
        const auto end = static_cast<std::size_t>(chunk_end);
        if (end > begin) parts_->append_dropout(text.substr(begin, end - begin), dropout.probability, state, *work, ids);
        begin = end;
    }
}

EncodedBatch Encoder::encode_batch(std::span<const UnicodeText> texts, const Dropout& dropout,
                                   unsigned threads) const {
    return encode_texts(texts, threads, parts_->workspaces, [&](std::size_t i, RankWorkspace& work, IdBuffer& ids) {
        parts_->encode(texts[i], {dropout.probability, dropout.seed + i}, work, ids);
    });
}

EncodedBatch Encoder::encode_documents(std::string_view text, std::span<const DocumentSpan> documents,
                                       unsigned threads) const {
    return encode_batch(as_texts(text, documents), {}, threads);
}

}  // namespace prunedbpe
