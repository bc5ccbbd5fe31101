#include <algorithm>
#include <vector>

#include "check.hpp"
#include "corpora.hpp"
#include "prunedbpe/merges.hpp"

using namespace prunedbpe;

namespace {

std::vector<std::int64_t> from(const std::vector<std::int64_t>& values, std::size_t begin) {
    return {values.begin() + static_cast<std::ptrdiff_t>(begin), values.end()};
}

void check_same(const Learner& learner, const plain::Learned& expected, std::size_t begin = 0) {
    CHECK_EQUAL(plain::flat(learner.merges()), plain::flat(std::span(expected.merges).subspan(begin)));
    CHECK_EQUAL(learner.frequencies(), from(expected.frequencies, begin));
    CHECK_EQUAL(learner.applied(), from(expected.applied, begin));
}

constexpr std::size_t never = std::size_t{1} << 30;

/// As the learner's `narrow_slots`: positions of 32 bits, and of 64.
constexpr std::size_t widths[] = {never, 0};

}  // namespace

CASE("learner: against the definition, with any number of threads") {
    check::Random random(10);
    for (int round = 0; round < 150; ++round) {
        const plain::Corpus corpus = plain::random_corpus(random);
        const plain::Learned expected = plain::learn(corpus, 40);
        for (const unsigned threads : {1u, 2u, 3u}) {
            for (const std::size_t split_from : {std::size_t{0}, 1 + random.below(6), never}) {
                for (const std::size_t narrow_slots : widths) {
                    Learner learner(corpus.view(), {}, threads, split_from, narrow_slots);
                    CHECK_EQUAL(learner.advance(40), expected.merges.size());
                    check_same(learner, expected);
                    CHECK(learner.memory() > 0);
                }
            }
        }
    }
}

CASE("learner: batches of independent merges, and of merges that are not") {
    check::Random random(15);
    for (int round = 0; round < 60; ++round) {
        // Pairs of many letters, some adjacent, most of equal frequency.
        plain::Corpus corpus;
        for (std::size_t i = 20 + random.below(40); i > 0; --i) {
            corpus.add(random.word("abcdefghijklmnopqrstuvwxyz", 2 + random.below(10)),
                       static_cast<std::int64_t>(1 + random.below(3)));
        }
        const plain::Learned expected = plain::learn(corpus, 200);
        for (const unsigned threads : {1u, 2u, 3u}) {
            for (const std::size_t narrow_slots : widths) {
                Learner learner(corpus.view(), {}, threads, never, narrow_slots);
                CHECK_EQUAL(learner.advance(200), expected.merges.size());
                check_same(learner, expected);
            }
        }
    }
}

CASE("learner: more merges at a time than one shard has ready") {
    check::Random random(27);
    for (int round = 0; round < 40; ++round) {
        plain::Corpus corpus;  // no two chunks share a byte, so nothing ends a batch
        for (std::size_t byte = 0; byte < 256; byte += 2) {
            const char pair[] = {static_cast<char>(byte), static_cast<char>(byte + 1)};
            corpus.add({pair, 2}, static_cast<std::int64_t>(2 + random.below(1000)));
        }
        const plain::Learned expected = plain::learn(corpus, 128);
        for (const unsigned threads : {2u, 4u}) {
            Learner learner(corpus.view(), {}, threads, never);
            CHECK_EQUAL(learner.advance(128), expected.merges.size());
            check_same(learner, expected);
        }
    }
}

CASE("learner: in steps, and resumed from any merge") {
    check::Random random(11);
    for (int round = 0; round < 150; ++round) {
        const plain::Corpus corpus = plain::random_corpus(random);
        const plain::Learned expected = plain::learn(corpus, 30);
        const std::size_t stop = random.below(expected.merges.size() + 1);
        for (const unsigned threads : {1u, 3u}) {
            const std::size_t split_from = random.below(2) == 0 ? 0 : never;
            Learner resumed(corpus.view(), std::span(expected.merges).first(stop), threads, split_from,
                            widths[random.below(2)]);
            std::size_t learned = 0;
            while (const std::size_t step = resumed.advance(std::min<std::size_t>(3, 30 - stop - learned))) {
                learned += step;
                if (learned == 30 - stop) break;
            }
            check_same(resumed, expected, stop);
        }
    }
}

CASE("learner: limited by time, still at least one merge at a time") {
    check::Random random(14);
    for (int round = 0; round < 50; ++round) {
        const plain::Corpus corpus = plain::random_corpus(random);
        const plain::Learned expected = plain::learn(corpus, 1000);
        Learner learner(corpus.view(), {}, 2, random.below(2) == 0 ? 0 : never);
        while (!learner.is_exhausted()) {
            const std::size_t known = learner.merges().size();
            CHECK_EQUAL(learner.advance(1000, 0.0) > 0, known < expected.merges.size());
        }
        check_same(learner, expected);
    }
}

CASE("learner: 64-bit positions from the first slot on that 32 bits are not to hold") {
    plain::Corpus corpus;
    corpus.add("abcabc", 3);
    corpus.add("bcd", 2);
    const std::size_t slots = 6 + 3 + 2 + 1;
    const auto memory = [&](std::size_t narrow_slots) {
        return Learner(corpus.view(), {}, 1, std::nullopt, narrow_slots).memory();
    };
    CHECK_EQUAL(Learner(corpus.view(), {}, 1).memory(), memory(never));
    CHECK_EQUAL(memory(slots), memory(never));
    CHECK_EQUAL(memory(slots - 1), memory(0));
    CHECK(memory(0) > memory(never));
}

CASE("learner: nothing to learn") {
    for (const unsigned threads : {1u, 3u}) {
        CHECK_EQUAL(Learner(plain::Corpus{}.view(), {}, threads, 0).advance(5), std::size_t{0});
        plain::Corpus corpus;
        corpus.add("a", 100);
        corpus.add("bc", 1);
        Learner learner(corpus.view(), {}, threads, 0);
        CHECK_EQUAL(learner.advance(5), std::size_t{0});
        CHECK_EQUAL(learner.advance(5), std::size_t{0});
    }
}

CASE("replay: as often as learning applied, and as the definition on another corpus") {
    check::Random random(13);
    for (int round = 0; round < 150; ++round) {
        const plain::Corpus corpus = plain::random_corpus(random), other = plain::random_corpus(random);
        const plain::Learned learned = plain::learn(corpus, 40);
        for (const unsigned threads : {1u, 2u, 7u}) {
            CHECK_EQUAL(replay(learned.merges, corpus.view(), threads), learned.applied);
            std::vector<std::int64_t> expected(learned.merges.size());
            std::vector<plain::Ranks> chunks;
            for (const auto& [chunk, count] : other.chunks) chunks.push_back(plain::as_ranks(chunk));
            for (std::size_t i = 0; i < learned.merges.size(); ++i) {
                for (std::size_t c = 0; c < chunks.size(); ++c) {
                    expected[i] += plain::replace(chunks[c], learned.merges[i], static_cast<std::uint32_t>(256 + i)) *
                                   other.chunks[c].second;
                }
            }
            CHECK_EQUAL(replay(learned.merges, other.view(), threads), expected);
        }
    }
}
