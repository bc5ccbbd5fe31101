#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "check.hpp"
#include "corpora.hpp"
#include "merges/flat_corpus.hpp"
#include "merges/pair_order.hpp"
#include "merges/pair_queue.hpp"
#include "merges/pair_table.hpp"
#include "merges/position_pool.hpp"

using namespace prunedbpe;

namespace {

/// The tokens of a chunk of two bytes or more, read from left to right.
template <class Position>
plain::Ranks forward(const FlatCorpus<Position>& corpus, std::size_t chunk) {
    plain::Ranks ranks;
    for (Position at = corpus.chunk_begin(chunk); at < corpus.chunk_end(chunk);) {
        ranks.push_back(corpus.rank_at(at));
        at += corpus.length(ranks.back());
    }
    return ranks;
}

/// The same from right to left, by what each token wrote into its last slot.
template <class Position>
plain::Ranks backward(const FlatCorpus<Position>& corpus, std::size_t chunk) {
    plain::Ranks ranks;
    for (Position at = corpus.chunk_end(chunk); at > corpus.chunk_begin(chunk);) {
        ranks.push_back(corpus.left_of(at));
        at -= corpus.length(ranks.back());
    }
    return {ranks.rbegin(), ranks.rend()};
}

template <class Position>
void check_flat_corpus() {
    check::Random random(20);
    for (int round = 0; round < 200; ++round) {
        const plain::Corpus counts = plain::random_corpus(random);
        const std::vector<Merge> merges = plain::learn(counts, random.below(20)).merges;
        WorkerTeam team(1 + static_cast<unsigned>(random.below(3)));
        const FlatCorpus<Position> corpus(counts.view(), merges, team);
        CHECK_EQUAL(corpus.rank_count(), 256 + merges.size());
        std::size_t chunk = 0;
        for (const auto& [bytes, count] : counts.chunks) {
            if (bytes.size() < 2) continue;  // left out
            const plain::Ranks expected = plain::merge(merges, bytes);
            CHECK_EQUAL(forward(corpus, chunk), expected);
            CHECK_EQUAL(backward(corpus, chunk), expected);
            CHECK_EQUAL(corpus.chunk_weight(chunk), count);
            CHECK_EQUAL(corpus.rank_at(corpus.chunk_end(chunk)), corpus.boundary);
            CHECK_EQUAL(corpus.left_of(corpus.chunk_begin(chunk)), corpus.boundary);
            for (Position at = corpus.chunk_begin(chunk); at < corpus.chunk_end(chunk); ++at) {
                CHECK_EQUAL(corpus.chunk_at(at), chunk);
            }
            ++chunk;
        }
        CHECK_EQUAL(corpus.chunk_count(), chunk);
        for (const unsigned workers : {1u, 2u, 7u}) {
            std::size_t end = 0;
            for (unsigned worker = 0; worker < workers; ++worker) {
                const Part part = corpus.chunk_part(worker, workers);
                CHECK_EQUAL(part.begin, end);
                end = part.end;
            }
            CHECK_EQUAL(end, chunk);
        }
    }
}

template <class Position>
void check_position_pool() {
    check::Random random(22);
    PositionPool<Position> pool;
    struct List {
        Position* positions;
        std::uint32_t count;
        Position value;
    };
    std::vector<List> lists;
    const auto is_intact = [](const List& list) {
        return std::all_of(list.positions, list.positions + list.count,
                           [&](Position position) { return position == list.value; });
    };
    for (Position step = 0; step < 20000; ++step) {
        if (lists.size() > 300 || (!lists.empty() && random.below(3) == 0)) {
            std::swap(lists[random.below(lists.size())], lists.back());
            CHECK(is_intact(lists.back()));
            pool.release(lists.back().positions, lists.back().count);
            lists.pop_back();
            continue;
        }
        // All small sizes, sizes around powers of two, and some beyond the pool.
        const std::size_t kind = random.below(10);
        const auto count = static_cast<std::uint32_t>(kind < 6   ? 1 + random.below(40)
                                                      : kind < 9 ? (std::size_t{1} << random.below(14)) + random.below(3)
                                                                 : 16000 + random.below(1000));
        Position* const positions = pool.allocate(count);
        std::fill(positions, positions + count, step);
        lists.push_back({positions, count, step});
    }
    for (const List& list : lists) CHECK(is_intact(list));
    for (const List& list : lists) pool.release(list.positions, list.count);
    const std::size_t memory = pool.memory();
    for (std::uint32_t round = 0; round < 10000; ++round) pool.release(pool.allocate(30), 30);
    CHECK_EQUAL(pool.memory(), memory);
}

// What these do does not depend on the width of positions.
using Table = PairTable<std::uint32_t>;
using Queue = PairQueue<std::uint32_t>;
using Entry = QueueEntry<std::uint32_t>;

}  // namespace

CASE("flat corpus: tokens from both sides, weights, boundaries, after any merges") {
    check_flat_corpus<std::uint32_t>();
    check_flat_corpus<std::uint64_t>();
}

CASE("position pool: lists of all sizes never overlap and are reused") {
    check_position_pool<std::uint32_t>();
    check_position_pool<std::uint64_t>();
}

CASE("pair table: against a map, with erasing and growing") {
    check::Random random(21);
    Table table;
    std::unordered_map<Pair, std::uint32_t, PairHash> rows;
    for (int step = 0; step < 400000; ++step) {
        // Few left ranks: long runs in the table, so that erasing has to move slots back.
        const Pair pair{static_cast<std::uint32_t>(random.below(300)), static_cast<std::uint32_t>(random.below(800))};
        const auto found = rows.find(pair);
        CHECK_EQUAL(table.find(pair), found == rows.end() ? Table::none : found->second);
        if (found == rows.end()) {
            const std::uint32_t row = table.insert(pair);
            CHECK_EQUAL(table[row].pair, pair);
            CHECK_EQUAL(table[row].frequency, 0);
            rows[pair] = row;
        } else if (random.below(3) != 0) {
            table.erase(found->second);
            table.recycle(found->second);
            rows.erase(found);
        }
    }
    CHECK(rows.size() > (1 << 16) / 2);  // it has grown
    for (const auto& [pair, row] : rows) CHECK_EQUAL(table.find(pair), row);
    while (!rows.empty()) {
        table.erase(rows.begin()->second);
        CHECK_EQUAL(table.find(rows.begin()->first), Table::none);
        rows.erase(rows.begin());
    }
}

CASE("position pool: a free large list is cut into smaller ones") {
    PositionPool<std::uint32_t> pool;
    std::uint32_t* const large = pool.allocate(1 << 20);
    const std::size_t memory = pool.memory();
    pool.release(large, 1 << 20);
    CHECK(pool.allocate(1 << 18) == large);
    for (int i = 0; i < 10; ++i) pool.allocate(1 << 15);
    for (int i = 0; i < 1000; ++i) pool.allocate(200);
    CHECK_EQUAL(pool.memory(), memory);
}

CASE("pair order: higher frequency first, then the first occurrence; total") {
    const std::vector<Entry> entries{{5, 9, 0}, {4, 1, 1}, {4, 2, 2}, {std::int64_t{1} << 40, 3, 3}};
    CHECK(merges_before(entries[3], entries[0]));
    CHECK(merges_before(entries[0], entries[1]));
    CHECK(merges_before(entries[1], entries[2]));
    for (const Entry& entry : entries) {
        CHECK(!merges_before(entry, entry));
        for (const Entry& other : entries) {
            CHECK(entry.row == other.row || merges_before(entry, other) != merges_before(other, entry));
        }
    }
}

CASE("pair queue: in order while pairs come and go and are corrected") {
    check::Random random(26);
    for (int round = 0; round < 300; ++round) {
        Queue queue;
        std::map<std::uint32_t, Entry> expected;  // by row
        std::uint32_t rows = 0;
        std::int64_t highest = std::int64_t{2} << random.below(62);
        const auto push = [&] {
            // Of any magnitude, and many of the same frequency.
            const std::int64_t frequency = std::min(highest, std::int64_t{1} + static_cast<std::int64_t>(
                                                                 random.next() >> (1 + random.below(63))));
            const Entry entry{frequency, 1 + rows * 7919 % 10007, rows};
            queue.push(entry);
            expected[rows++] = entry;
        };
        for (std::size_t i = random.below(300); i > 0; --i) push();
        std::size_t open_from = Queue::bin_count;
        const auto open = [&] {
            open_from -= std::min(open_from, 1 + random.below(40));
            queue.open_from(
                open_from,
                [&](Entry& entry) {
                    if (random.below(8) != 0) return true;
                    Entry& lower = expected[entry.row];
                    lower.frequency = entry.frequency = std::max<std::int64_t>(1, entry.frequency / 2);
                    if (queue.is_near(entry.frequency)) return true;
                    queue.push(entry);
                    return false;
                },
                [](const Entry&) {});
        };
        while (!expected.empty()) {
            CHECK_EQUAL(queue.near_count() + queue.far_count(), expected.size());
            if (!queue.has_near() || random.below(4) == 0) {
                open();
                continue;
            }
            const auto best = std::min_element(expected.begin(), expected.end(), [](const auto& a, const auto& b) {
                return merges_before(a.second, b.second);
            });
            CHECK_EQUAL(queue.front().row, best->first);
            const Entry popped = queue.pop();
            CHECK_EQUAL(popped.row, best->first);
            CHECK_EQUAL(popped.frequency, best->second.frequency);
            highest = popped.frequency;
            expected.erase(best);
            if (random.below(3) == 0) push();
        }
        CHECK(!queue.has_near() && queue.far_count() == 0);
    }
}
