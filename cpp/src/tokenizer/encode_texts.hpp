// Many texts on many threads, for any encoder.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "prunedbpe/interrupt.hpp"
#include "prunedbpe/tokenizer.hpp"
#include "tokenizer/workspace.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {

/// Documents as texts.
inline std::vector<UnicodeText> as_texts(std::string_view text, std::span<const DocumentSpan> documents) {
    std::vector<UnicodeText> texts;
    texts.reserve(documents.size());
    for (const auto& [begin, end] : documents) {
        texts.push_back(UnicodeText::utf8({text.data() + begin, static_cast<std::size_t>(end - begin)}));
    }
    return texts;
}

/// Encodes texts on `threads` threads (0: one per core), results in order. `append(i, workspace, ids)` appends the ids of
/// text i; every thread has its own workspace.
template <class Space, class Append>
EncodedBatch encode_texts(std::span<const UnicodeText> texts, unsigned threads, WorkspacePool<Space>& workspaces,
                          Append&& append) {
    // Starting a thread costs about as much as encoding 20 KB.
    const std::size_t length = std::accumulate(texts.begin(), texts.end(), std::size_t{0},
                                               [](std::size_t sum, const UnicodeText& t) { return sum + t.length; });
    if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
    WorkerTeam team(static_cast<unsigned>(std::min<std::size_t>(threads, length / 20'000 + 1)));
    // Texts differ in length, so a free worker takes the next few. Each worker collects its ids in one buffer and
    // records which texts they belong to.
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
        typename WorkspacePool<Space>::Loan work(workspaces);
        std::size_t unpolled = 0;  // characters since the last poll_interrupt()
        for (std::size_t first; (first = next_text.fetch_add(take)) < texts.size();) {
            for (std::size_t i = first; i < std::min(first + take, texts.size()); ++i) {
                const std::size_t begin = output.ids.size();
                try {
                    append(i, *work, output.ids);
                } catch (LoneSurrogate& error) {
                    error.text = i;
                    throw;
                }
                output.pieces.push_back({i, begin, output.ids.size()});
                unpolled += texts[i].length + 1;
                if (unpolled >= poll_bytes) {
                    unpolled = 0;
                    poll_interrupt();
                }
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
