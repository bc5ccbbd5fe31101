// The hot path: the loop over the chunks of a text. Looks each chunk up in the cache and encodes only those it does not
// find. The `Split` decides how: by rank (encoder.cpp) or into the fewest tokens (shortest.cpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>

#include "pretokenizers/chunk_scanner.hpp"
#include "prunedbpe/id_buffer.hpp"
#include "prunedbpe/interrupt.hpp"
#include "tokenizer/chunk_cache.hpp"

namespace prunedbpe {

struct KnownChunks {
    ShortChunkCache short_ones;
    LongChunkCache long_ones;
};

/// Throws std::invalid_argument if the cache cannot hold one of the ids.
inline void check_ids(std::span<const std::uint32_t> ids) {
    const auto is_too_large = [](std::uint32_t id) { return id >= ShortChunkCache::id_limit; };
    if (std::any_of(ids.begin(), ids.end(), is_too_large)) throw std::invalid_argument("token ids must be below 2^29");
}

/// `split.append_short(key, bytes, ids)` appends the ids of a new chunk of up to 15 bytes, `split.append(bytes, ids)` those
/// of any chunk.
template <class Split>
class ChunkLoop {
public:
    ChunkLoop(KnownChunks& known, Split split, std::string_view text, IdBuffer& ids)
        : known_(known), split_(split), text_(text), end_(text.data() + text.size()), polled_(text.data()), ids_(ids) {}

    /// Appends the ids of the whole text. The scanner is a template argument and inlines.
    template <NextChunk next_chunk>
    void append_text() {
        // Closer to the end than this, a key may not be read as whole words.
        const std::ptrdiff_t tail = ChunkScanner<next_chunk>::reach + ShortChunkCache::Key::capacity + 1;
        const char* at = text_.data();
        ChunkScanner<next_chunk> scanner(end_);
        while (at < end_) {
            const ChunkRun run = scanner.next(at);
            at = end_ - at >= tail ? add_run<true>(at, run) : add_run<false>(at, run);
            if (count_ >= enough) append_group(at);
        }
        append_group(at);
    }

    /// The same for chunks that the caller has cut: chunk i ends at ends[i].
    void append_chunks(std::span<const std::int64_t> ends) {
        const char* at = text_.data();
        for (const std::int64_t chunk_end : ends) {
            const char* const stop = text_.data() + chunk_end;
            if (stop == at) continue;
            add_chunk<false>(at, stop, chunks_[count_++]);
            at = stop;
            if (count_ == enough) append_group(at);
        }
        append_group(at);
    }

private:
    /// Chunks go through the two steps in groups, so that the prefetches of many chunks overlap: the cache does not fit
    /// into L2.
    static constexpr std::size_t enough = 96;
    static constexpr std::size_t capacity = enough + 64;  ///< a run may start one chunk short of enough
    struct Chunk {
        const char* at;
        ShortChunkCache::Key key;             ///< of a short chunk
        ShortChunkCache::Bucket* bucket;      ///< nullptr for a chunk of more than 15 bytes
        LongChunkCache::Bucket* long_bucket;  ///< of such a chunk; nullptr if it has more than 31 bytes
    };

    template <bool roomy>
    const char* add_run(const char* at, const ChunkRun& run) {
        Chunk* chunk = chunks_ + count_;
        run.for_each_end([&](const char* stop) {
            add_chunk<roomy>(at, stop, *chunk++);
            at = stop;
        });
        count_ = static_cast<std::size_t>(chunk - chunks_);
        return at;
    }

    /// Step 1: find the bucket of the chunk [at, stop). With `roomy`, 16 bytes may be read at `at`.
    template <bool roomy>
    void add_chunk(const char* at, const char* stop, Chunk& chunk) {
        const auto size = static_cast<std::size_t>(stop - at);
        chunk.at = at;
        if (size <= ShortChunkCache::Key::capacity) [[likely]] {
            const auto key = ShortChunkCache::Key::of<roomy>(at, size, end_);
            chunk.bucket = known_.short_ones.find(key);
            // Word by word: copying the struct would stall on store forwarding.
            for (std::size_t i = 0; i < std::size(key.words); ++i) chunk.key.words[i] = key.words[i];
        } else {
            chunk.bucket = nullptr;
            chunk.long_bucket = nullptr;
            if (size <= LongChunkCache::Key::capacity) {
                chunk.long_bucket = known_.long_ones.find(LongChunkCache::Key::of(at, size, end_));
            }
        }
    }

    /// Step 2: look into the buckets and encode what is new. The last chunk ends at `stop`. Empties the group.
    void append_group(const char* stop) {
        if (stop - polled_ >= static_cast<std::ptrdiff_t>(poll_bytes)) [[unlikely]] {
            polled_ = stop;
            poll_interrupt();
        }
        const std::size_t room = count_ * ShortChunkCache::most_ids;
        std::uint32_t* out = ids_.room(room);
        for (std::size_t i = 0; i < count_; ++i) {
            Chunk& chunk = chunks_[i];
            if (chunk.bucket != nullptr) [[likely]] {
                if (std::uint32_t* const id_end = chunk.bucket->copy(chunk.key, out)) [[likely]] {
                    out = id_end;
                    continue;
                }
            }
            ids_.advance_to(out);
            append_new(chunk, i + 1 < count_ ? chunks_[i + 1].at : stop);
            out = ids_.room(room);
        }
        ids_.advance_to(out);
        known_.short_ones.count_lookups(count_);
        known_.short_ones.grow_if_useful();
        known_.long_ones.grow_if_useful();
        count_ = 0;
    }

    /// A chunk that step 2 did not find: new, or not short.
    void append_new(const Chunk& chunk, const char* stop) {
        const std::string_view bytes(chunk.at, static_cast<std::size_t>(stop - chunk.at));
        const std::size_t before = ids_.size();
        if (chunk.bucket != nullptr) {
            split_.append_short(chunk.key, bytes, ids_);
            known_.short_ones.add(*chunk.bucket, chunk.key, ids_.span().subspan(before));
        } else if (chunk.long_bucket != nullptr) {
            const auto key = LongChunkCache::Key::of(bytes.data(), bytes.size(), end_);
            known_.long_ones.count_lookups(1);
            if (std::uint32_t* const id_end = chunk.long_bucket->copy(key, ids_.room(LongChunkCache::most_ids))) {
                ids_.advance_to(id_end);
            } else {
                split_.append(bytes, ids_);
                known_.long_ones.add(*chunk.long_bucket, key, ids_.span().subspan(before));
            }
        } else {
            split_.append(bytes, ids_);
        }
    }

    KnownChunks& known_;
    const Split split_;
    const std::string_view text_;
    const char* const end_;
    const char* polled_;  ///< where poll_interrupt() was called last
    IdBuffer& ids_;
    Chunk chunks_[capacity];
    std::size_t count_ = 0;
};

}  // namespace prunedbpe
