// Every long loop stops when its caller wants it to, on any number of threads.
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "prunedbpe/counts.hpp"
#include "prunedbpe/interrupt.hpp"
#include "prunedbpe/merges.hpp"
#include "prunedbpe/pretokenizers.hpp"
#include "prunedbpe/shortest.hpp"
#include "prunedbpe/tokenizer.hpp"
#include "util/worker_team.hpp"

using namespace prunedbpe;

namespace {

bool stop_now() { return true; }
bool go_on() { return false; }

/// Long enough for every loop to poll.
std::string long_text() {
    check::Random random(1);
    std::string text;
    while (text.size() < 3 * poll_bytes) text += random.word("abc", 9) + " ";
    return text;
}

/// Checks that `work` is interrupted, that it is not without a reason, and that it works again afterwards.
void check_stops(const std::function<void()>& work) {
    {
        Interrupt interrupt(stop_now, Interrupt::Interval(0));
        CHECK(interrupt.should_stop());  // now also threads that may not ask know it
        CHECK_THROWS(work(), Interrupted);
    }
    Interrupt interrupt(go_on, Interrupt::Interval(0));
    work();
}

/// Merges of "ab", "abc", ... and ids that are ranks.
struct Vocabulary {
    std::vector<Merge> merges;
    std::vector<std::uint32_t> ids;
    std::vector<std::int64_t> offsets;

    Vocabulary() {
        Rank last{'a'};
        for (std::uint32_t i = 0; i < 4; ++i) {
            merges.push_back({last, Rank{'b' + i}});
            last = Rank{byte_count + i};
        }
        for (std::uint32_t rank = 0; rank < byte_count + merges.size(); ++rank) ids.push_back(rank);
        for (std::size_t rank = 0; rank <= ids.size(); ++rank) offsets.push_back(static_cast<std::int64_t>(rank));
    }
};

}  // namespace

CASE("interrupt: encoding by rank") {
    const Vocabulary vocabulary;
    const std::string text = long_text();
    const UnicodeText unicode = UnicodeText::utf8(text);
    const std::vector<UnicodeText> short_texts(2 * poll_bytes, UnicodeText::utf8("ab"));  // enough for every thread
    for (const char* pretokenizer : {"gpt2", "none"}) {
        const Encoder encoder(vocabulary.merges, {vocabulary.ids, vocabulary.offsets}, find_pretokenizer(pretokenizer));
        for (const double dropout : {0.0, 0.1}) {
            check_stops([&] {
                IdBuffer ids;
                encoder.encode(unicode, {dropout, 0}, ids);
            });
        }
        for (const unsigned threads : {1u, 2u, 5u}) {
            const std::vector<UnicodeText> texts{unicode, unicode, unicode, unicode, unicode};
            check_stops([&] { encoder.encode_batch(texts, {}, threads); });
            check_stops([&] { encoder.encode_batch(short_texts, {}, threads); });
            check_stops([&] {
                SlicedBatch slices(encoder, texts, {}, threads);
                while (slices.next()) {
                }
            });
        }
    }
}

CASE("interrupt: encoding into the fewest tokens") {
    std::vector<std::uint8_t> bytes;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint32_t> ids;
    for (unsigned byte = 0; byte < byte_count; ++byte) {
        bytes.push_back(static_cast<std::uint8_t>(byte));
        offsets.push_back(static_cast<std::int64_t>(bytes.size()));
        ids.push_back(byte);
    }
    const std::string text = long_text();
    for (const char* pretokenizer : {"gpt2", "none"}) {
        const ShortestEncoder encoder(bytes, offsets, ids, find_pretokenizer(pretokenizer));
        check_stops([&] {
            IdBuffer result;
            encoder.encode(UnicodeText::utf8(text), result);
        });
    }
    const ShortestEncoder encoder(bytes, offsets, ids, nullptr);
    const std::vector<std::int64_t> chunk{0, static_cast<std::int64_t>(text.size())}, count{1};
    const ChunkCountsView counts{{reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, chunk, count, {}};
    for (const unsigned threads : {1u, 3u}) check_stops([&] { encoder.total_length(counts, threads); });
}

CASE("interrupt: counting, learning, replaying") {
    std::string text;
    for (std::size_t i = 0; i < 3 * poll_rows; ++i) text.append(" ").append(std::to_string(i));  // unique chunks
    const std::vector<DocumentSpan> documents{{0, static_cast<std::int64_t>(text.size())}};
    const NextChunk next = find_pretokenizer("gpt2");
    for (const unsigned threads : {1u, 3u}) {
        check_stops([&] { ChunkCounter(threads).add_documents(next, text, documents); });
        check_stops([&] {
            ChunkCounter counter(threads);
            {
                const Interrupt::Shared undisturbed(nullptr);
                counter.add_documents(next, text, documents);
            }
            counter.finish();
        });
        ChunkCounter counter(threads);
        counter.add_documents(next, text, documents);
        const ChunkCounts table = counter.finish();
        const ChunkCountsView view{table.bytes, table.offsets, table.counts, table.first_positions};
        check_stops([&] { ChunkCounter(threads).add_counts(view, 0); });
        check_stops([&] { Learner(view, {}, threads, 0); });
        check_stops([&] { replay(Vocabulary().merges, view, threads); });
    }
}

CASE("interrupt: a caller that has nothing left to do notices it while others work") {
    WorkerTeam team(2);
    Interrupt interrupt(stop_now, Interrupt::Interval(0));
    CHECK_THROWS(team.run([&](unsigned worker) {
        while (worker == 1) poll_interrupt();  // for ever, unless the waiting caller asks
    }), Interrupted);
}

CASE("interrupt: work of another thread goes on") {
    Interrupt interrupt(stop_now, Interrupt::Interval(0));
    std::thread([] { poll_interrupt(); }).join();
    const Interrupt::Shared undisturbed(nullptr);
    poll_interrupt();
}
