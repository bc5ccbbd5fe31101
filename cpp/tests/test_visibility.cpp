// What tokens are worth to the shortest segmentation, and how few tokens any choice needs. The sanitizers run these.
#include <algorithm>
#include <limits>
#include <set>

#include "check.hpp"
#include "corpora.hpp"
#include "prunedbpe/fewest_tokens.hpp"
#include "prunedbpe/lower_bound.hpp"

using namespace prunedbpe;

namespace {

/// The 256 bytes and some strings of the corpus, as flat arrays.
struct Strings {
    std::vector<std::string> all;
    std::vector<std::uint8_t> bytes;
    std::vector<std::int64_t> offsets{0};

    Strings(const plain::Corpus& corpus, check::Random& random, std::size_t most) {
        for (unsigned byte = 0; byte < byte_count; ++byte) add(std::string(1, static_cast<char>(byte)));
        std::set<std::string> found;
        for (std::size_t i = 0; i < most && !corpus.chunks.empty(); ++i) {
            const std::string& chunk = corpus.chunks[random.below(corpus.chunks.size())].first;
            if (chunk.size() < 2) continue;
            const std::size_t begin = random.below(chunk.size() - 1);
            found.insert(chunk.substr(begin, 2 + random.below(6)));
        }
        for (const std::string& string : found) {
            if (string.size() > 1) add(string);
        }
    }

    void add(const std::string& string) {
        all.push_back(string);
        bytes.insert(bytes.end(), string.begin(), string.end());
        offsets.push_back(static_cast<std::int64_t>(bytes.size()));
    }
};

/// By definition: the fewest visible tokens of a chunk.
std::int64_t fewest(const std::string& chunk, const std::set<std::string>& visible) {
    std::vector<std::int64_t> best(chunk.size() + 1, std::numeric_limits<std::int64_t>::max());
    best[0] = 0;
    for (std::size_t begin = 0; begin < chunk.size(); ++begin) {
        for (std::size_t end = begin + 1; end <= chunk.size(); ++end) {
            const bool is_token = end == begin + 1 || visible.contains(chunk.substr(begin, end - begin));
            if (is_token) best[end] = std::min(best[end], best[begin] + 1);
        }
    }
    return best[chunk.size()];
}

std::int64_t length(const plain::Corpus& corpus, const std::set<std::string>& visible) {
    std::int64_t tokens = 0;
    for (const auto& [chunk, count] : corpus.chunks) tokens += count * fewest(chunk, visible);
    return tokens;
}

}  // namespace

CASE("visibility: losses, gains and lengths are those of the definition") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        check::Random random(seed);
        const plain::Corpus corpus = plain::random_corpus(random);
        const Strings strings(corpus, random, 10);
        // One source: every chunk occurs in source 0.
        std::vector<std::int64_t> offsets(corpus.counts.size() + 1);
        for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<std::int64_t>(i);
        const std::vector<std::uint32_t> sources(corpus.counts.size(), 0);
        FewestTokens tokens(corpus.view(), {offsets, sources, corpus.counts, 1}, strings.bytes, strings.offsets, 3);
        std::set<std::string> visible;
        for (int round = 0; round < 3; ++round) {
            std::vector<std::uint32_t> flipped;
            for (auto rank = std::uint32_t{byte_count}; rank < strings.all.size(); ++rank) {
                if (random.below(2) == 0) continue;
                flipped.push_back(rank);
                if (visible.erase(strings.all[rank]) == 0) visible.insert(strings.all[rank]);
            }
            tokens.flip(flipped);
            while (!tokens.settle(0.0)) {
            }
            const std::int64_t now = length(corpus, visible);
            CHECK(tokens.lengths()[0] == now);
            const std::vector<std::int64_t> gains = tokens.gains();
            for (auto rank = std::uint32_t{byte_count}; rank < strings.all.size(); ++rank) {
                std::set<std::string> other = visible;
                const bool is_visible = other.erase(strings.all[rank]) > 0;
                if (!is_visible) other.insert(strings.all[rank]);
                const std::int64_t changed = length(corpus, other);
                CHECK(tokens.losses()[rank] == (is_visible ? changed - now : 0));
                CHECK(gains[rank] == (is_visible ? 0 : now - changed));
            }
        }
    }
}

CASE("visibility: no choice of tokens is below the lower bound") {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        check::Random random(seed);
        plain::Corpus corpus;
        for (std::size_t i = 0; i < 8; ++i) corpus.add(random.word("abc", 9), static_cast<std::int64_t>(1 + random.below(5)));
        const Strings strings(corpus, random, 7);
        const std::size_t candidates = strings.all.size() - byte_count, required = candidates / 2;
        LowerBound bound(corpus.view(), strings.bytes, strings.offsets, required, 3);
        bound.start_at(2.0);
        for (int pass = 0; pass < 20; ++pass) bound.ascend(1.0 - pass / 20.0);
        std::int64_t best = std::numeric_limits<std::int64_t>::max();
        for (std::size_t chosen = 0; chosen < std::size_t{1} << candidates; ++chosen) {
            std::set<std::string> visible;
            for (std::size_t i = 0; i < candidates; ++i) {
                if (chosen >> i & 1) visible.insert(strings.all[byte_count + i]);
            }
            if (visible.size() == required) best = std::min(best, length(corpus, visible));
        }
        CHECK(bound.best() <= best * LowerBound::unit);
        CHECK(bound.evaluate_any() <= best * LowerBound::unit);
    }
}
