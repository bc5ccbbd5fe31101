#include "baselines/cover_corpus.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace prunedbpe::cover {

namespace {

/// The first eight bytes decide nearly every comparison.
struct KeyedSuffix {
    std::uint64_t key;
    Position position;
    std::uint32_t length;
};

std::uint64_t first_bytes(std::string_view text) {
    std::uint64_t key = 0;
    for (std::size_t i = 0; i < 8; ++i) key = key << 8 | (i < text.size() ? static_cast<std::uint8_t>(text[i]) : 0);
    return key;
}

}  // namespace

CoverCorpus::CoverCorpus(const ChunkCountsView& counts)
    : text_(counts.bytes.begin(), counts.bytes.end()),
      ends_(counts.offsets.begin() + 1, counts.offsets.end()),
      counts_(counts.counts.begin(), counts.counts.end()) {
    const std::size_t size = text_.size();
    if (size >= std::numeric_limits<Position>::max()) throw std::length_error("GreedTok: over 4 GiB of unique chunks");
    chunk_of_.resize(size);
    for (std::size_t chunk = 0; chunk < counts.size(); ++chunk)
        std::fill(chunk_of_.begin() + counts.offsets[chunk], chunk_of_.begin() + counts.offsets[chunk + 1],
                  static_cast<std::uint32_t>(chunk));
    joined_.assign(size + 1, 0);

    std::vector<KeyedSuffix> keyed(size);
    for (Position position = 0; position < size; ++position) {
        const std::size_t rest = static_cast<std::size_t>(ends_[chunk_of_[position]]) - position;
        const auto length = static_cast<std::uint32_t>(std::min(rest, longest_token));
        keyed[position] = {first_bytes(bytes(position, length)), position, length};
    }
    const auto suffix_of = [this](const KeyedSuffix& suffix) { return bytes(suffix.position, suffix.length); };
    std::sort(keyed.begin(), keyed.end(), [&](const KeyedSuffix& a, const KeyedSuffix& b) {
        if (a.key != b.key) return a.key < b.key;
        const int order = suffix_of(a).compare(suffix_of(b));
        return order != 0 ? order < 0 : a.position < b.position;
    });
    suffixes_.resize(size);
    weights_.resize(size);
    lengths_.resize(size);
    common_lengths_.assign(size, 0);
    for (std::size_t entry = 0; entry < size; ++entry) {
        suffixes_[entry] = keyed[entry].position;
        weights_[entry] = counts_[chunk_of_[keyed[entry].position]];
        lengths_[entry] = static_cast<std::uint8_t>(keyed[entry].length);
        if (entry == 0) continue;
        const std::string_view before = suffix_of(keyed[entry - 1]), here = suffix_of(keyed[entry]);
        const auto [end, _] = std::mismatch(before.begin(), before.end(), here.begin(), here.end());
        common_lengths_[entry] = static_cast<std::uint8_t>(end - before.begin());
    }
}

Occurrences CoverCorpus::find(std::string_view token) const {
    const auto start_of = [&](const Position& suffix) {
        const auto entry = static_cast<std::size_t>(&suffix - suffixes_.data());
        return bytes(suffix, std::min(token.size(), suffix_length(entry)));
    };
    const auto first = std::lower_bound(suffixes_.begin(), suffixes_.end(), token,
                                        [&](const Position& p, std::string_view t) { return start_of(p) < t; });
    const auto last = std::upper_bound(first, suffixes_.end(), token,
                                       [&](std::string_view t, const Position& p) { return t < start_of(p); });
    return {static_cast<std::uint32_t>(first - suffixes_.begin()), static_cast<std::uint32_t>(last - suffixes_.begin())};
}

void CoverCorpus::sort_places(Occurrences occurrences) {
    ascending_.assign(suffixes_.begin() + occurrences.begin, suffixes_.begin() + occurrences.end);
    std::sort(ascending_.begin(), ascending_.end());
}

template <class Visit>
void CoverCorpus::for_each_place(Occurrences occurrences, bool ascending, Visit visit) {
    if (!ascending) {
        for (std::size_t entry = occurrences.begin; entry < occurrences.end; ++entry)
            visit(suffixes_[entry], weights_[entry]);
        return;
    }
    sort_places(occurrences);
    for (const Position position : ascending_) visit(position, counts_[chunk_of_[position]]);
}

bool CoverCorpus::overlap(Occurrences occurrences, std::size_t length) {
    // Only a string that begins as it ends can overlap itself. Few do, so most are spared the sorting.
    const std::string_view token = bytes(suffixes_[occurrences.begin], length);
    bool has_border = false;
    for (std::size_t border = 1; border < length && !has_border; ++border)
        has_border = token.substr(0, border) == token.substr(length - border);
    if (!has_border) return false;
    sort_places(occurrences);
    for (std::size_t i = 1; i < ascending_.size(); ++i)
        if (ascending_[i] - ascending_[i - 1] < length) return true;
    return false;
}

bool CoverCorpus::is_free(Position position, std::size_t length) const {
    return !joined_[position] && !joined_[position + length];
}

std::int64_t CoverCorpus::score(Occurrences occurrences, std::size_t length, bool overlapping) {
    std::int64_t score = 0;
    std::size_t covered_to = 0;
    for_each_place(occurrences, overlapping, [&](Position position, std::int64_t weight) {
        if (!is_free(position, length) || (overlapping && position < covered_to)) return;
        covered_to = position + length;
        std::int64_t joins = 0;
        for (std::size_t i = 1; i < length; ++i) joins += !joined_[position + i];
        score += joins * weight;
    });
    return score;
}

void CoverCorpus::cover(Occurrences occurrences, std::size_t length, bool overlapping) {
    for_each_place(occurrences, overlapping, [&](Position position, std::int64_t) {
        if (!is_free(position, length)) return;  // as is what overlaps a place that was just covered
        std::fill_n(joined_.begin() + position + 1, length - 1, std::uint8_t{1});
    });
}

}  // namespace prunedbpe::cover
