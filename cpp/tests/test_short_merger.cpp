#include <string>
#include <vector>

#include "check.hpp"
#include "corpora.hpp"
#include "tokenizer/simd/short_merger.hpp"

using namespace prunedbpe;

namespace {

/// A visible rank stands for itself, a hidden one for two ids after all ranks.
struct Ids {
    std::vector<std::uint32_t> ids;
    std::vector<std::int64_t> offsets{0};
    Ids(std::size_t tokens, const std::vector<bool>& hidden) {
        for (std::uint32_t rank = 0; rank < tokens; ++rank) {
            const bool is_hidden = rank >= byte_count && hidden[rank - byte_count];
            ids.insert(ids.end(), is_hidden ? 2 : 1, is_hidden ? static_cast<std::uint32_t>(tokens) : rank);
            offsets.push_back(static_cast<std::int64_t>(ids.size()));
        }
    }
    std::vector<std::uint32_t> of(const plain::Ranks& ranks) const {
        std::vector<std::uint32_t> all;
        for (const std::uint32_t rank : ranks) all.insert(all.end(), ids.begin() + offsets[rank], ids.begin() + offsets[rank + 1]);
        return all;
    }
};

std::vector<simd::Level> levels() {
    if (simd::best_level() == simd::Level::portable) return {simd::Level::portable};
    return {simd::Level::portable, simd::Level::avx2};
}

ShortMerger::Key key_of(const std::string& chunk) {
    return ShortMerger::Key::of(chunk.data(), chunk.size(), chunk.data() + chunk.size());
}

}  // namespace

CASE("short merger: portable and AVX2 against the definition, every length, internal tokens") {
    check::Random random(60);
    for (int round = 0; round < 1000; ++round) {
        const std::vector<Merge> merges = plain::learn(plain::random_corpus(random), random.below(40)).merges;
        std::vector<bool> hidden;
        for (std::size_t i = 0; i < merges.size(); ++i) hidden.push_back(random.below(4) == 0);
        const Ids ids(byte_count + merges.size(), round % 2 == 0 ? hidden : std::vector<bool>(merges.size()));
        const Expansions expansions(ids.ids, ids.offsets);
        for (const simd::Level level : levels()) {
            const ShortMerger merger(merges, expansions, level);
            for (std::size_t longest = 1; longest <= ShortMerger::Key::capacity; ++longest) {
                for (const char* alphabet : {"a", "ab", "abcdefghijklmnop"}) {
                    const std::string chunk = random.word(alphabet, longest);
                    std::uint32_t out[2 * ShortMerger::room];
                    std::uint32_t* const end = merger.encode(key_of(chunk), out);
                    CHECK(end != nullptr);
                    CHECK_EQUAL(std::vector<std::uint32_t>(out, end), ids.of(plain::merge(merges, chunk)));
                }
            }
        }
    }
}

CASE("short merger: leaves other scripts and large vocabularies to backtracking") {
    const auto encode = [](const std::vector<Merge>& merges, const std::string& chunk) {
        const Ids ids(byte_count + merges.size(), std::vector<bool>(merges.size()));
        const Expansions expansions(ids.ids, ids.offsets);
        std::uint32_t out[ShortMerger::room];
        const std::uint32_t* const end = ShortMerger(merges, expansions, simd::best_level()).encode(key_of(chunk), out);
        return end != nullptr ? end - out : 0;
    };
    const std::vector<Merge> few{{Rank{'a'}, Rank{'b'}}};
    CHECK_EQUAL(encode(few, "abc"), 2);
    CHECK_EQUAL(encode(few, "ab\xC3\xA9"), 3);
    CHECK_EQUAL(encode(few, "a\xE4\xB8\xAD"), 0);
    std::vector<Merge> many;  // a chain: a, aa, aaa, ...
    while (many.size() + byte_count < MergeRows::none) {
        many.push_back({Rank{many.empty() ? 'a' : byte_count + static_cast<std::uint32_t>(many.size()) - 1}, Rank{'a'}});
    }
    CHECK_EQUAL(encode(many, "aaa"), 0);
    many.pop_back();
    CHECK_EQUAL(encode(many, "aaa"), 1);
}

CASE("merge rows: find every merge from its later part, and no other pair") {
    check::Random random(61);
    std::vector<Merge> merges;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> expected;
    while (merges.size() < 6000) {
        const std::size_t tokens = byte_count + merges.size();
        const auto left = static_cast<std::uint32_t>(random.below(tokens)), right = static_cast<std::uint32_t>(random.below(tokens));
        if (expected.try_emplace({left, right}, tokens).second) merges.push_back({Rank{left}, Rank{right}});
    }
    const MergeRows rows(merges);
    CHECK(rows.are_complete());
    const auto check = [&](std::uint32_t left, std::uint32_t right) {
        const auto found = expected.find({left, right});
        const std::uint32_t rank = found == expected.end() ? MergeRows::none : found->second;
        if ((left | right) < byte_count) {
            const unsigned char bytes[]{static_cast<unsigned char>(left), static_cast<unsigned char>(right)};
            CHECK_EQUAL(rows.find_bytes(bytes), rank);
            return;
        }
        if (left <= right) CHECK_EQUAL(rows.find_left(rows.row(right), left), rank);
        if (right <= left) CHECK_EQUAL(rows.find_right(rows.row(left), right), rank);
    };
    for (const auto& [pair, rank] : expected) check(pair.first, pair.second);
    for (int i = 0; i < 100000; ++i) {
        check(static_cast<std::uint32_t>(random.below(6256)), static_cast<std::uint32_t>(random.below(6256)));
    }
    for (std::uint32_t rank = 0; rank < 6256; ++rank) {
        CHECK_EQUAL(rows.find_left(rows.row(rank), MergeRows::none), MergeRows::none);
        CHECK_EQUAL(rows.find_right(rows.row(rank), MergeRows::none), MergeRows::none);
    }
}

CASE("merge rows: a row that is too large for a table makes them incomplete") {
    std::vector<Merge> merges;  // tokens of two zeros, three zeros, ...; then the last of them with all before it
    while (merges.size() < 2000) {
        merges.push_back({Rank{merges.empty() ? 0 : byte_count + static_cast<std::uint32_t>(merges.size()) - 1}, Rank{0}});
    }
    CHECK(MergeRows(merges).are_complete());
    const Rank last{byte_count + 1999};
    for (std::uint32_t rank = 0; rank < raw(last); ++rank) merges.push_back({Rank{rank}, last});
    CHECK(!MergeRows(merges).are_complete());
}
