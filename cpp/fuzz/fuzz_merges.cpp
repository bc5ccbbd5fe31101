// Any small corpus: the learner's merges, frequencies and replacements equal those of recounting the corpus at each step,
// for any number of threads, when it resumes from a checkpoint, and when the merges are replayed.
//
// Input: a line of settings (threads, occurrences from which a merge is split, merges before the checkpoint), then a
// chunk per line after a character for its count; '~' is a count of more than 32 bits.
#include "corpora.hpp"
#include "fuzz_input.hpp"
#include "prunedbpe/merges.hpp"

using namespace prunedbpe;

namespace {

constexpr std::size_t most_merges = 40, longest_corpus = 600;  // recounting is slow

plain::Corpus read_corpus(fuzz::Input& input) {
    plain::Corpus corpus;
    while (!input.at_end() && corpus.bytes.size() < longest_corpus) {
        const bool is_large = input.rest().front() == '~';
        const auto count = static_cast<std::int64_t>(1 + input.number(10));
        const std::string chunk(input.line().substr(0, longest_corpus));
        if (!chunk.empty()) corpus.add(chunk, is_large ? std::int64_t{3} << 32 : count);
    }
    return corpus;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const auto threads = static_cast<unsigned>(std::max<std::size_t>(input.number(10), 7) - 6);  // rarely 2 or 3: slow
    const std::size_t split_from = 1 + input.number(20);
    const std::size_t checkpoint = input.number(most_merges);
    input.line();
    const plain::Corpus corpus = read_corpus(input);
    const plain::Learned expected = plain::learn(corpus, most_merges);

    Learner learner(corpus.view(), {}, threads, split_from);
    const std::size_t before = learner.advance(checkpoint);
    CHECK(before == std::min(checkpoint, expected.merges.size()));
    Learner resumed(corpus.view(), learner.merges(), threads, split_from);
    learner.advance(most_merges - before);
    resumed.advance(most_merges - before);
    CHECK_EQUAL(plain::flat(learner.merges()), plain::flat(expected.merges));
    CHECK_EQUAL(learner.frequencies(), expected.frequencies);
    CHECK_EQUAL(learner.applied(), expected.applied);
    CHECK_EQUAL(plain::flat(resumed.merges()), plain::flat(std::span(expected.merges).subspan(before)));
    CHECK_EQUAL(replay(expected.merges, corpus.view(), threads), expected.applied);
    CHECK(!find_unreachable(expected.merges));
    return 0;
}
