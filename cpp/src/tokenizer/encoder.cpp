// The loop over chunks. A chunk is looked up among those seen before, and only if it is new split into tokens;
// both give visible ids, so hiding tokens costs nothing here.
#include <atomic>
#include <numeric>
#include <stdexcept>

#include "pretokenize/chunk_scanner.hpp"
#include "prunedbpe/merger.hpp"
#include "prunedbpe/tokenizer.hpp"
#include "tokenizer/backtracking.hpp"
#include "tokenizer/expansions.hpp"
#include "tokenizer/lane_merger.hpp"
#include "tokenizer/workspace.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {

struct Encoder::Parts {
    Parts(std::span<const Merge> merges, const IdListsView& lists, NextChunk scanner)
        : lookup(merges),
          expansions(lists.ids, lists.offsets),
          backtracker(lookup, merges, expansions),
          lane_merger(merges, expansions),
          next(scanner),
          encode_text(find_loop(scanner)) {}

    using EncodeText = void (Parts::*)(std::string_view, Workspace&, IdBuffer&) const;
    static EncodeText find_loop(NextChunk scanner);

    /// The scanner is known when this is compiled, and becomes part of the loop.
    template <NextChunk next_chunk>
    void encode_text_with(std::string_view text, Workspace& work, IdBuffer& ids) const {
        const char* at = text.data();
        const char* const end = at + text.size();
        // From here on a key is read by the byte: behind it there is not enough text to read it by the word.
        const std::ptrdiff_t tail = ChunkScanner<next_chunk>::reach + ShortChunkCache::Key::capacity + 1;
        ChunkScanner<next_chunk> scanner(end);
        Group group;
        while (at < end) {
            const ChunkRun run = scanner.next(at);
            at = end - at >= tail ? add_run<true>(at, run, end, work, group) : add_run<false>(at, run, end, work, group);
            if (group.count >= Group::enough) append_group(group, at, end, work, ids);
        }
        append_group(group, at, end, work, ids);
    }

    /// Chunks on their way. Each step is done for a whole group before the next step: the cache is larger
    /// than the processor's fast ones, and so the memory of many chunks is fetched at a time.
    struct Group {
        static constexpr std::size_t enough = 32;
        static constexpr std::size_t capacity = enough + 64;  // a run may come when one is missing
        struct Chunk {
            const char* at;
            ShortChunkCache::Key key;
            ShortChunkCache::Pair* places;
            LongChunkCache::Pair* long_places;
        };
        Chunk chunks[capacity];
        std::size_t count = 0;
    };

    template <bool roomy>
    const char* add_run(const char* at, const ChunkRun& run, const char* end, Workspace& work, Group& group) const {
        Group::Chunk* chunk = group.chunks + group.count;
        run.for_each_end([&](const char* stop) {
            add_chunk<roomy>(at, stop, end, work, *chunk++);
            at = stop;
        });
        group.count = static_cast<std::size_t>(chunk - group.chunks);
        return at;
    }

    /// Step 1: find the places of the chunk [at, stop) in the cache. If `roomy`, 16 bytes may be read at `at`.
    template <bool roomy = false>
    void add_chunk(const char* at, const char* stop, const char* end, Workspace& work, Group::Chunk& chunk) const {
        const auto size = static_cast<std::size_t>(stop - at);
        chunk.at = at;
        if (size <= ShortChunkCache::Key::capacity) [[likely]] {
            const auto key = ShortChunkCache::Key::of<roomy>(at, size, end);
            chunk.places = work.short_chunks.find(key);
            // Field by field: a struct put together first and then copied waits for its own stores.
            for (std::size_t i = 0; i < std::size(key.words); ++i) chunk.key.words[i] = key.words[i];
        } else {
            chunk.places = nullptr;
            chunk.long_places = nullptr;
            if (size <= LongChunkCache::Key::capacity) {
                chunk.long_places = work.long_chunks.find(LongChunkCache::Key::of(at, size, end));
            }
        }
    }

    /// Step 2: look there, and split what is new. The last chunk ends at `stop`; the group is empty then.
    void append_group(Group& group, const char* stop, const char* end, Workspace& work, IdBuffer& ids) const {
        const std::size_t room = group.count * ShortChunkCache::most_ids;
        std::uint32_t* out = ids.room(room);
        for (std::size_t i = 0; i < group.count; ++i) {
            Group::Chunk& chunk = group.chunks[i];
            if (chunk.places != nullptr) [[likely]] {
                if (std::uint32_t* const id_end = chunk.places->copy(chunk.key, out)) [[likely]] {
                    out = id_end;
                    continue;
                }
            }
            ids.advance_to(out);
            append_new(chunk, i + 1 < group.count ? group.chunks[i + 1].at : stop, end, work, ids);
            out = ids.room(room);
        }
        ids.advance_to(out);
        work.short_chunks.count_asked(group.count);
        work.short_chunks.grow_if_useful();
        work.long_chunks.grow_if_useful();
        group.count = 0;
    }

    /// A chunk that is not among the short ones seen before.
    void append_new(const Group::Chunk& chunk, const char* stop, const char* end, Workspace& work, IdBuffer& ids) const {
        const std::string_view bytes(chunk.at, static_cast<std::size_t>(stop - chunk.at));
        const std::size_t before = ids.size();
        if (chunk.places != nullptr) {
            if (const std::uint32_t* const id_end = lane_merger.encode(chunk.key, ids.room(LaneMerger::room))) {
                ids.advance_to(id_end);
            } else {
                backtracker.encode(bytes, work.backtracking, ids);
            }
            work.short_chunks.add(*chunk.places, chunk.key, ids.span().subspan(before));
        } else if (chunk.long_places != nullptr) {
            const auto key = LongChunkCache::Key::of(bytes.data(), bytes.size(), end);
            LongChunkCache::Pair* const places = chunk.long_places;
            work.long_chunks.count_asked(1);
            if (std::uint32_t* const id_end = places->copy(key, ids.room(LongChunkCache::most_ids))) {
                ids.advance_to(id_end);
            } else {
                backtracker.encode(bytes, work.backtracking, ids);
                work.long_chunks.add(*places, key, ids.span().subspan(before));
            }
        } else {
            backtracker.encode(bytes, work.backtracking, ids);
        }
    }

    void append_dropout(std::string_view chunk, double probability, std::uint64_t& state, Workspace& work,
                        IdBuffer& ids) const {
        merge_chunk_dropout(lookup, chunk, probability, state, work.merging);
        for (const std::uint32_t rank : work.merging.ranks) ids.append(expansions[rank]);
    }

    void encode(const UnicodeText& unicode, const Dropout& dropout, Workspace& work, IdBuffer& ids) const {
        const std::string_view text = to_utf8(unicode, work.utf8);
        static_cast<void>(ids.room(text.size() / 4 + 16));  // as many tokens as plain text has
        if (dropout.probability == 0) {
            (this->*encode_text)(text, work, ids);
            return;
        }
        std::uint64_t state = dropout.seed;
        for_each_chunk(next, text, [&](std::string_view chunk) {
            append_dropout(chunk, dropout.probability, state, work, ids);
        });
    }

    MergeLookup lookup;
    Expansions expansions;
    Backtracker backtracker;
    LaneMerger lane_merger;
    NextChunk next;
    EncodeText encode_text;
    mutable WorkspacePool workspaces;
};

Encoder::Parts::EncodeText Encoder::Parts::find_loop(NextChunk scanner) {
    return with_scanner(scanner, []<NextChunk next_chunk>() -> EncodeText { return &Parts::encode_text_with<next_chunk>; });
}

Encoder::Encoder(std::span<const Merge> merges, const IdListsView& expansions, NextChunk next) {
    if (expansions.offsets.size() != byte_count + merges.size() + 1) {
        throw std::invalid_argument("one expansion is needed for every byte and every merge");
    }
    const auto is_too_large = [](std::uint32_t id) { return id >= ShortChunkCache::id_limit; };
    if (std::any_of(expansions.ids.begin(), expansions.ids.end(), is_too_large)) {
        throw std::invalid_argument("token ids must be below 2^29");
    }
    parts_ = std::make_unique<Parts>(merges, expansions, next);
}

Encoder::~Encoder() = default;

void Encoder::encode(const UnicodeText& text, const Dropout& dropout, IdBuffer& ids) const {
    WorkspacePool::Loan work(parts_->workspaces);
    parts_->encode(text, dropout, *work, ids);
}

void Encoder::encode_chunks(std::string_view text, std::span<const std::int64_t> ends, const Dropout& dropout,
                            IdBuffer& ids) const {
    WorkspacePool::Loan work(parts_->workspaces);
    std::uint64_t state = dropout.seed;
    const char* at = text.data();
    const char* const end = at + text.size();
    Parts::Group group;
    for (const std::int64_t chunk_end : ends) {
        const char* const stop = text.data() + chunk_end;
        if (stop == at) continue;
        if (dropout.probability != 0) {
            parts_->append_dropout({at, stop}, dropout.probability, state, *work, ids);
        } else {
            parts_->add_chunk(at, stop, end, *work, group.chunks[group.count++]);
            if (group.count == Parts::Group::enough) parts_->append_group(group, stop, end, *work, ids);
        }
        at = stop;
    }
    parts_->append_group(group, at, end, *work, ids);
}

EncodedBatch Encoder::encode_batch(std::span<const UnicodeText> texts, const Dropout& dropout,
                                   unsigned threads) const {
    // A thread costs about as much as encoding 20 KB.
    const std::size_t length = std::accumulate(texts.begin(), texts.end(), std::size_t{0},
                                               [](std::size_t sum, const UnicodeText& t) { return sum + t.length; });
    if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
    WorkerTeam team(static_cast<unsigned>(std::min<std::size_t>(threads, length / 20'000 + 1)));
    // Texts differ in length, so workers take the next few whenever they are free; each keeps its ids
    // in one buffer and notes which texts they belong to.
    struct Piece {
        std::size_t text;
        std::size_t begin;
        std::size_t end;
    };
    struct Output {
        IdBuffer ids;
        std::vector<Piece> pieces;
    };
    const std::size_t take = texts.size() < 64 ? 1 : 8;
    std::vector<Output> outputs(team.size());
    std::atomic<std::size_t> next_text{0};
    team.run([&](unsigned worker) {
        Output& output = outputs[worker];
        WorkspacePool::Loan work(parts_->workspaces);
        for (std::size_t first; (first = next_text.fetch_add(take)) < texts.size();) {
            for (std::size_t i = first; i < std::min(first + take, texts.size()); ++i) {
                const std::size_t begin = output.ids.size();
                try {
                    parts_->encode(texts[i], {dropout.probability, dropout.seed + i}, *work, output.ids);
                } catch (LoneSurrogate& error) {
                    error.text = i;
                    throw;
                }
                output.pieces.push_back({i, begin, output.ids.size()});
            }
        }
    });
    EncodedBatch result;
    result.offsets.resize(texts.size() + 1);
    for (const Output& output : outputs) {
        for (const Piece& piece : output.pieces) {
            result.offsets[piece.text + 1] = static_cast<std::int64_t>(piece.end - piece.begin);
        }
    }
    for (std::size_t i = 0; i < texts.size(); ++i) result.offsets[i + 1] += result.offsets[i];
    if (outputs.size() == 1) {
        result.ids = std::move(outputs[0].ids);
        return result;
    }
    const auto total = static_cast<std::size_t>(result.offsets.back());
    std::uint32_t* const all = result.ids.room(total);
    team.run([&](unsigned worker) {
        for (const Piece& piece : outputs[worker].pieces) {
            std::copy(outputs[worker].ids.data() + piece.begin, outputs[worker].ids.data() + piece.end,
                      all + result.offsets[piece.text]);
        }
        outputs[worker].ids = IdBuffer();
    });
    result.ids.advance(total);
    return result;
}

}  // namespace prunedbpe
