#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <stdexcept>

#include "prunedbpe/lower_bound.hpp"
#include "visibility/candidate_edges.hpp"

namespace prunedbpe {
namespace {

/// The end of a chunk, from one of its bytes on.
struct Suffix {
    std::uint32_t chunk;
    std::uint32_t at;
};

/// A substring: the first `length` bytes of a suffix.
struct Found {
    Suffix suffix;
    std::uint32_t length;
    std::int64_t value;
};

/// Suffixes that have their first `length` bytes in common.
struct Group {
    std::size_t begin;
    std::size_t end;
    std::uint32_t length;
};

constexpr std::size_t pair_count = std::size_t{1} << 16;

class Search {
public:
    Search(const ChunkCountsView& counts, std::int64_t least, std::size_t most) : counts_(counts), least_(least), most_(most) {
        if (counts.size() > std::numeric_limits<std::uint32_t>::max()) {
            throw std::length_error("more than 2^32 - 1 unique chunks");
        }
        group_by_first_pair();
    }

    std::optional<Substrings> run(unsigned threads) {
        WorkerTeam team(threads);
        std::vector<std::vector<Found>> found(pair_count);
        std::atomic<std::size_t> next{0};
        team.run([&](unsigned) {
            std::vector<Group> groups;
            for (std::size_t pair; (pair = next.fetch_add(1)) < pair_count && total_ <= most_;) {
                search({first_of_pair_[pair], first_of_pair_[pair + 1], 2}, groups, found[pair]);
                total_ += found[pair].size();
            }
        });
        if (total_ > most_) return std::nullopt;
        return spell(found);
    }

private:
    std::int64_t rest(Suffix suffix) const { return counts_.offsets[suffix.chunk + 1] - counts_.offsets[suffix.chunk] - suffix.at; }
    const std::uint8_t* bytes(Suffix suffix) const { return counts_.bytes.data() + counts_.offsets[suffix.chunk] + suffix.at; }

    template <class Use>
    void for_each_suffix(Use&& use) const {
        for (std::uint32_t chunk = 0; chunk < counts_.size(); ++chunk) {
            const std::int64_t size = counts_.offsets[chunk + 1] - counts_.offsets[chunk];
            if (size > std::numeric_limits<std::uint32_t>::max()) throw std::length_error("a chunk of 4 GiB or more");
            for (std::uint32_t at = 0; at + 1 < size; ++at) {
                const std::uint8_t* const pair = bytes({chunk, at});
                use(std::size_t{pair[0]} << 8 | pair[1], Suffix{chunk, at});
            }
        }
    }

    void group_by_first_pair() {
        first_of_pair_.assign(pair_count + 1, 0);
        for_each_suffix([&](std::size_t pair, Suffix) { ++first_of_pair_[pair + 1]; });
        for (std::size_t pair = 0; pair < pair_count; ++pair) first_of_pair_[pair + 1] += first_of_pair_[pair];
        suffixes_.resize(first_of_pair_.back());
        std::vector<std::size_t> end(first_of_pair_.begin(), first_of_pair_.end() - 1);
        for_each_suffix([&](std::size_t pair, Suffix suffix) { suffixes_[end[pair]++] = suffix; });
    }

    /// Finds the substrings that begin as the suffixes of a group do, in lexicographic order.
    void search(Group all, std::vector<Group>& groups, std::vector<Found>& found) {
        groups.assign(1, all);
        while (!groups.empty() && found.size() <= most_) {
            const Group group = groups.back();
            groups.pop_back();
            std::int64_t frequency = 0;
            // A longer string that begins like this has no other occurrences, and is no longer than the suffix at each.
            std::int64_t most_value = 0;
            for (std::size_t i = group.begin; i < group.end; ++i) {
                const std::int64_t count = counts_.counts[suffixes_[i].chunk];
                frequency += count;
                most_value += count * (rest(suffixes_[i]) - 1);
            }
            if (most_value < least_) continue;
            const std::int64_t value = frequency * (group.length - 1);
            if (value >= least_) found.push_back({suffixes_[group.begin], group.length, value});
            split(group, groups);
        }
    }

    /// Sorts a group by its next byte and pushes the groups that differ in it, the last one first.
    void split(Group group, std::vector<Group>& groups) {
        const auto begin = suffixes_.begin() + static_cast<std::ptrdiff_t>(group.begin);
        const auto end = suffixes_.begin() + static_cast<std::ptrdiff_t>(group.end);
        const auto ended = std::partition(begin, end, [&](Suffix suffix) { return rest(suffix) > group.length; });
        const auto next_byte = [&](Suffix suffix) { return bytes(suffix)[group.length]; };
        std::sort(begin, ended, [&](Suffix a, Suffix b) { return next_byte(a) < next_byte(b); });
        for (auto last = ended; last != begin;) {
            auto first = last - 1;
            while (first != begin && next_byte(*(first - 1)) == next_byte(*first)) --first;
            groups.push_back({static_cast<std::size_t>(first - suffixes_.begin()),
                              static_cast<std::size_t>(last - suffixes_.begin()), group.length + 1});
            last = first;
        }
    }

    Substrings spell(const std::vector<std::vector<Found>>& found) const {
        Substrings result;
        result.offsets.push_back(0);
        for (const std::vector<Found>& of_pair : found) {
            for (const Found& one : of_pair) {
                const std::uint8_t* const first = bytes(one.suffix);
                result.bytes.insert(result.bytes.end(), first, first + one.length);
                result.offsets.push_back(static_cast<std::int64_t>(result.bytes.size()));
                result.values.push_back(one.value);
            }
        }
        return result;
    }

    const ChunkCountsView& counts_;
    const std::int64_t least_;
    const std::size_t most_;
    std::vector<std::size_t> first_of_pair_;  ///< by the first two bytes: where their suffixes begin
    HugeVector<Suffix> suffixes_;
    std::atomic<std::size_t> total_{0};
};

}  // namespace

std::optional<Substrings> frequent_substrings(const ChunkCountsView& counts, std::int64_t least, std::size_t most,
                                              unsigned threads) {
    if (least < 1) throw std::invalid_argument("the least value of a substring is not positive");
    return Search(counts, least, most).run(threads);
}

}  // namespace prunedbpe
