#include "visibility/shortest_paths.hpp"

namespace prunedbpe {

void ShortestPaths::find(std::size_t chunk, const std::uint8_t* states, std::uint8_t visible, bool with_hidden) {
    const CandidateEdges::Chunk edges = edges_.chunk(chunk);
    size_ = edges.edges_at.size();
    if (forward_.size() <= size_) {
        for (auto* by_position : {&first_shown_, &reach_, &forward_, &backward_, &scratch_}) by_position->resize(size_ + 1);
    }
    shown_.clear();
    hidden_.clear();
    shown_tokens_.clear();
    hidden_tokens_.clear();
    for (std::uint32_t at = 0; at <= size_; ++at) forward_[at] = at;
    std::uint32_t reach = 0;
    const std::uint32_t* token = edges.tokens.data();
    for (std::uint32_t at = 0; at < size_; ++at) {
        first_shown_[at] = static_cast<std::uint32_t>(shown_.size());
        const std::uint32_t next = forward_[at] + 1;
        forward_[at + 1] = std::min(forward_[at + 1], next);
        for (const std::uint32_t* const last = token + edges.edges_at[at]; token != last; ++token) {
            const std::uint32_t end = at + edges_.length(*token);
            if (states[*token] & visible) {
                shown_.push_back({at, end});
                shown_tokens_.push_back(*token);
                forward_[end] = std::min(forward_[end], next);
                reach = std::max(reach, end);
            } else if (with_hidden) {
                hidden_.push_back({at, end});
                hidden_tokens_.push_back(*token);
            }
        }
        reach_[at] = reach;
    }
    first_shown_[size_] = static_cast<std::uint32_t>(shown_.size());
    backward_[size_] = 0;
    for (std::size_t at = size_, edge = shown_.size(); at-- > 0;) {
        std::uint32_t best = backward_[at + 1];
        for (; edge > first_shown_[at]; --edge) best = std::min(best, backward_[shown_[edge - 1].end]);
        backward_[at] = best + 1;
    }
}

std::uint32_t ShortestPaths::fewest_avoiding(std::size_t edge, std::uint32_t enough) const {
    const std::uint32_t cut = shown_[edge].begin + 1;
    std::uint32_t best = forward_[cut] + backward_[cut];
    for (std::size_t i = first_shown_[cut]; i-- > 0 && best > enough;) {
        const auto [begin, end] = shown_[i];
        if (reach_[begin] <= cut) break;  // nor does any edge before it get past the cut
        if (end > cut && i != edge) best = std::min(best, forward_[begin] + 1 + backward_[end]);
    }
    return best;
}

template <class Use>
std::uint32_t ShortestPaths::search(std::span<const Edge> edges, Use&& use) {
    // Edges come by begin, so the prefix up to an edge's begin is final when the edge is reached.
    std::uint32_t done = 0;
    scratch_[0] = 0;
    std::fill(scratch_.begin() + 1, scratch_.begin() + static_cast<std::ptrdiff_t>(size_) + 1, ~0u);
    const auto finish_up_to = [&](std::uint32_t at) {
        for (; done < at; ++done) scratch_[done + 1] = std::min(scratch_[done + 1], scratch_[done] + 1);
    };
    for (std::size_t i = 0; i < edges.size(); ++i) {
        if (!use(i)) continue;
        finish_up_to(edges[i].begin);
        scratch_[edges[i].end] = std::min(scratch_[edges[i].end], scratch_[edges[i].begin] + 1);
    }
    finish_up_to(static_cast<std::uint32_t>(size_));
    return scratch_[size_];
}

std::uint32_t ShortestPaths::fewest_without(std::uint32_t token) {
    return search(shown_, [&](std::size_t i) { return shown_tokens_[i] != token; });
}

std::uint32_t ShortestPaths::fewest_with(std::uint32_t token) {
    // The visible edges and those of the token, by begin.
    std::vector<Edge> merged;
    std::size_t shown = 0;
    for (std::size_t i = 0; i < hidden_.size(); ++i) {
        if (hidden_tokens_[i] != token) continue;
        for (; shown < shown_.size() && shown_[shown].begin <= hidden_[i].begin; ++shown) merged.push_back(shown_[shown]);
        merged.push_back(hidden_[i]);
    }
    merged.insert(merged.end(), shown_.begin() + static_cast<std::ptrdiff_t>(shown), shown_.end());
    return search(merged, [](std::size_t) { return true; });
}

}  // namespace prunedbpe
