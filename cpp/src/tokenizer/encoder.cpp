#include <atomic>
#include <stdexcept>

#include "prunedbpe/tokenizer.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {

Encoder::Encoder(std::span<const Merge> merges, const IdListsView& expansions, NextChunk next)
    : lookup_(merges),
      expansion_ids_(expansions.ids.begin(), expansions.ids.end()),
      expansion_offsets_(expansions.offsets.begin(), expansions.offsets.end()),
      next_(next) {
    if (expansion_offsets_.size() != byte_count + merges.size() + 1) {
        throw std::invalid_argument("one expansion is needed for every byte and every merge");
    }
}

void Encoder::append_expanded(const std::vector<std::uint32_t>& ranks, std::vector<std::uint32_t>& ids) const {
    for (const std::uint32_t rank : ranks) {
        const std::uint32_t begin = expansion_offsets_[rank], end = expansion_offsets_[rank + 1];
        if (end == begin + 1) {
            ids.push_back(expansion_ids_[begin]);  // visible: by far the most
        } else {
            ids.insert(ids.end(), expansion_ids_.begin() + begin, expansion_ids_.begin() + end);
        }
    }
}

void Encoder::append_chunk(std::string_view chunk, MergeScratch& scratch, std::vector<std::uint32_t>& ids) const {
    merge_chunk(lookup_, chunk, scratch);
    append_expanded(scratch.ranks, ids);
}

void Encoder::append_chunk_dropout(std::string_view chunk, double probability, std::uint64_t& state,
                                   MergeScratch& scratch, std::vector<std::uint32_t>& ids) const {
    merge_chunk_dropout(lookup_, chunk, probability, state, scratch);
    append_expanded(scratch.ranks, ids);
}

void Encoder::encode(std::string_view text, const Dropout& dropout, std::vector<std::uint32_t>& ids) const {
    MergeScratch scratch;
    if (dropout.probability == 0) {
        for_each_chunk(next_, text, [&](std::string_view chunk) { append_chunk(chunk, scratch, ids); });
        return;
    }
    std::uint64_t state = dropout.seed;
    for_each_chunk(next_, text, [&](std::string_view chunk) {
        append_chunk_dropout(chunk, dropout.probability, state, scratch, ids);
    });
}

void Encoder::encode_chunks(std::string_view text, std::span<const std::int64_t> ends, const Dropout& dropout,
                            std::vector<std::uint32_t>& ids) const {
    MergeScratch scratch;
    std::uint64_t state = dropout.seed;
    std::size_t begin = 0;
    for (const std::int64_t end : ends) {
        const std::string_view chunk = text.substr(begin, static_cast<std::size_t>(end) - begin);
        if (dropout.probability == 0) {
            append_chunk(chunk, scratch, ids);
        } else {
            append_chunk_dropout(chunk, dropout.probability, state, scratch, ids);
        }
        begin = static_cast<std::size_t>(end);
    }
}

IdLists Encoder::encode_batch(std::span<const std::string_view> texts, const Dropout& dropout,
                              unsigned threads) const {
    WorkerTeam team(threads);
    // Texts differ in length, so workers take the next few whenever they are free; each keeps its ids
    // in one vector and notes which texts they belong to.
    struct Piece {
        std::size_t text;
        std::size_t begin;
        std::size_t end;
    };
    struct Output {
        std::vector<std::uint32_t> ids;
        std::vector<Piece> pieces;
    };
    constexpr std::size_t take = 16;
    std::vector<Output> outputs(team.size());
    std::atomic<std::size_t> next_text{0};
    team.run([&](unsigned worker) {
        Output& output = outputs[worker];
        for (std::size_t first; (first = next_text.fetch_add(take)) < texts.size();) {
            for (std::size_t i = first; i < std::min(first + take, texts.size()); ++i) {
                const std::size_t begin = output.ids.size();
                encode(texts[i], {dropout.probability, dropout.seed + i}, output.ids);
                output.pieces.push_back({i, begin, output.ids.size()});
            }
        }
    });
    IdLists result;
    result.offsets.resize(texts.size() + 1);
    for (const Output& output : outputs) {
        for (const Piece& piece : output.pieces) {
            result.offsets[piece.text + 1] = static_cast<std::int64_t>(piece.end - piece.begin);
        }
    }
    for (std::size_t i = 0; i < texts.size(); ++i) result.offsets[i + 1] += result.offsets[i];
    result.ids.resize(static_cast<std::size_t>(result.offsets.back()));
    team.run([&](unsigned worker) {
        for (const Piece& piece : outputs[worker].pieces) {
            std::copy(outputs[worker].ids.begin() + static_cast<std::ptrdiff_t>(piece.begin),
                      outputs[worker].ids.begin() + static_cast<std::ptrdiff_t>(piece.end),
                      result.ids.begin() + result.offsets[piece.text]);
        }
    });
    return result;
}

}  // namespace prunedbpe
