#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "check.hpp"
#include "corpora.hpp"
#include "merges/merge_chunk.hpp"
#include "prunedbpe/shortest.hpp"
#include "prunedbpe/tokenizer.hpp"
#include "prunedbpe/vocabulary.hpp"
#include "tokenizer/double_array.hpp"

using namespace prunedbpe;

namespace {

std::vector<Merge> random_merges(check::Random& random) {
    return plain::learn(plain::random_corpus(random), random.below(40)).merges;
}

std::vector<std::string> spell_plainly(const std::vector<Merge>& merges) {
    std::vector<std::string> strings;
    for (int byte = 0; byte < 256; ++byte) strings.emplace_back(1, static_cast<char>(byte));
    for (const Merge& merge : merges) strings.push_back(strings[raw(merge.left)] + strings[raw(merge.right)]);
    return strings;
}

/// The expansion of every rank: itself, or its parts if it is hidden.
struct IdLists {
    std::vector<std::uint32_t> ids;
    std::vector<std::int64_t> offsets;
};

IdLists expansions(const std::vector<Merge>& merges, const std::vector<bool>& hidden) {
    std::vector<std::vector<std::uint32_t>> lists;
    for (std::uint32_t rank = 0; rank < 256 + merges.size(); ++rank) {
        if (rank < 256 || !hidden[rank - 256]) {
            lists.push_back({rank});
            continue;
        }
        lists.push_back(lists[raw(merges[rank - 256].left)]);
        const auto& right = lists[raw(merges[rank - 256].right)];
        lists.back().insert(lists.back().end(), right.begin(), right.end());
    }
    IdLists flat;
    flat.offsets.push_back(0);
    for (const auto& list : lists) {
        flat.ids.insert(flat.ids.end(), list.begin(), list.end());
        flat.offsets.push_back(static_cast<std::int64_t>(flat.ids.size()));
    }
    return flat;
}

std::vector<std::uint32_t> as_vector(const IdBuffer& ids) { return {ids.span().begin(), ids.span().end()}; }

std::string decode(const Decoder& decoder, const std::vector<std::uint32_t>& ids) {
    std::string text(decoder.measure(ids).bytes, '?');
    decoder.write(ids, text);
    return text;
}

/// Merges every chunk byte by byte.
std::vector<std::uint32_t> encode_plainly(const std::vector<Merge>& merges, const IdLists& lists,
                                          const std::string& text, const std::vector<std::int64_t>& ends) {
    std::vector<std::uint32_t> ids;
    std::int64_t begin = 0;
    for (const std::int64_t end : ends) {
        const auto at = static_cast<std::size_t>(begin);
        for (const std::uint32_t rank : plain::merge(merges, text.substr(at, static_cast<std::size_t>(end) - at))) {
            ids.insert(ids.end(), lists.ids.begin() + lists.offsets[rank], lists.ids.begin() + lists.offsets[rank + 1]);
        }
        begin = end;
    }
    return ids;
}

}  // namespace

CASE("merging a chunk: scan and heap against the definition, around the limit between them") {
    check::Random random(30);
    for (int round = 0; round < 400; ++round) {
        const std::vector<Merge> merges = random_merges(random);
        const MergeLookup lookup(merges);
        MergeScratch scratch;
        for (const std::size_t longest : {5, 20, 62, 63, 64, 65, 66, 70, 200}) {
            std::string chunk = random.word("ab", longest);
            if (longest > 60) chunk.resize(longest, chunk[0]);
            const plain::Ranks expected = plain::merge(merges, chunk);
            merge_chunk(lookup, chunk, scratch);
            CHECK_EQUAL(scratch.ranks, expected);

            // Dropout always takes the heap; without dropping it must be the same.
            std::uint64_t state = 1;
            merge_chunk_dropout(lookup, chunk, 0.0, state, scratch);
            CHECK_EQUAL(scratch.ranks, expected);
            merge_chunk_dropout(lookup, chunk, 1.0, state, scratch);
            CHECK_EQUAL(scratch.ranks, plain::as_ranks(chunk));

            std::vector<std::int64_t> applied(merges.size());
            merge_chunk_recording(lookup, chunk, 3, applied, scratch);
            CHECK_EQUAL(scratch.ranks, expected);
            std::int64_t total = 0;
            for (const std::int64_t times : applied) total += times;
            CHECK_EQUAL(total, 3 * static_cast<std::int64_t>(chunk.size() - expected.size()));
        }
    }
}

CASE("merge lookup: every merge is found, and no other pair") {
    check::Random random(31);
    std::vector<Merge> merges;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> expected;
    for (std::uint32_t i = 0; i < 5000; ++i) {
        const auto left = static_cast<std::uint32_t>(random.below(256 + i));
        const auto right = static_cast<std::uint32_t>(random.below(256 + i));
        merges.push_back({Rank{left}, Rank{right}});
        expected.try_emplace({left, right}, 256 + i);  // of a pair given twice, the first counts
    }
    const MergeLookup lookup(merges);
    for (const auto& [pair, rank] : expected) CHECK_EQUAL(lookup.find(pair.first, pair.second), rank);
    for (int i = 0; i < 100000; ++i) {
        const auto left = static_cast<std::uint32_t>(random.below(6000));
        const auto right = static_cast<std::uint32_t>(random.below(6000));
        const auto found = expected.find({left, right});
        CHECK_EQUAL(lookup.find(left, right), found == expected.end() ? MergeLookup::none : found->second);
    }
    CHECK_EQUAL(MergeLookup({}).find(97, 98), MergeLookup::none);
}

CASE("encoder and decoder: round trip, batches, slices, given chunks, dropout") {
    check::Random random(32);
    for (int round = 0; round < 100; ++round) {
        const std::vector<Merge> merges = random_merges(random);
        std::vector<bool> hidden(merges.size());
        for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] = random.below(3) == 0;
        const IdLists lists = expansions(merges, hidden);
        const Encoder encoder(merges, {lists.ids, lists.offsets}, find_pretokenizer("paper"));

        const TokenStrings strings = spell(merges);
        const Decoder decoder(strings.bytes, strings.offsets);

        std::vector<std::string> texts(random.below(60));
        for (std::string& text : texts) text = random.word("abab c", 100);
        std::vector<UnicodeText> views;
        for (const std::string& text : texts) views.push_back(UnicodeText::utf8(text));
        for (const double probability : {0.0, 0.4, 1.0}) {
            std::vector<std::uint32_t> all;
            std::vector<std::int64_t> ends{0};
            for (std::size_t i = 0; i < texts.size(); ++i) {
                IdBuffer encoded, encoded_cut;
                encoder.encode(views[i], {probability, 77 + i}, encoded);
                const std::vector<std::uint32_t> ids = as_vector(encoded);
                CHECK_EQUAL(decode(decoder, ids), texts[i]);
                for (const std::uint32_t id : ids) CHECK(id < 256 || !hidden[id - 256]);
                const std::vector<std::int64_t> chunk_ends = find_chunk_ends(find_pretokenizer("paper"), texts[i]);
                encoder.encode_chunks(texts[i], chunk_ends, {probability, 77 + i}, encoded_cut);
                CHECK_EQUAL(as_vector(encoded_cut), ids);
                if (probability == 0) CHECK_EQUAL(ids, encode_plainly(merges, lists, texts[i], chunk_ends));
                all.insert(all.end(), ids.begin(), ids.end());
                ends.push_back(static_cast<std::int64_t>(all.size()));
            }
            for (const unsigned threads : {1u, 2u, 7u}) {
                const EncodedBatch batch = encoder.encode_batch(views, {probability, 77}, threads);
                CHECK_EQUAL(as_vector(batch.ids), all);
                CHECK_EQUAL(batch.offsets, ends);
                SlicedBatch slices(encoder, views, {probability, 77}, threads);
                std::vector<std::uint32_t> sliced;
                while (const auto slice = slices.next()) {
                    sliced.insert(sliced.end(), slice->ids.span().begin(), slice->ids.span().end());
                }
                CHECK_EQUAL(sliced, all);
            }
        }
    }
}

CASE("unreachable tokens: the same as by merging the bytes of each token") {
    check::Random random(57);
    int faulty = 0;
    for (int round = 0; round < 5000; ++round) {
        // Random merges over three letters: most lists soon have an unreachable token.
        std::vector<Merge> merges;
        const auto any_part = [&] {
            const std::size_t part = random.below(3 + merges.size());
            return Rank{static_cast<std::uint32_t>(part < 3 ? 'a' + part : 256 + part - 3)};
        };
        for (std::size_t count = 1 + random.below(7); merges.size() < count;) merges.push_back({any_part(), any_part()});
        const std::vector<std::string> strings = spell_plainly(merges);
        std::optional<std::uint32_t> expected;
        for (std::uint32_t rank = 256; rank < strings.size() && !expected; ++rank) {
            if (plain::merge(merges, strings[rank]) != std::vector<std::uint32_t>{rank}) expected = rank;
        }
        CHECK(find_unreachable(merges) == expected);
        faulty += expected.has_value();
    }
    CHECK(faulty > 1000 && faulty < 4500);
}

CASE("encoder: chunks that are one token, whatever the merges make of them") {
    check::Random random(33);
    for (int round = 0; round < 100; ++round) {
        const std::vector<Merge> merges = random_merges(random);
        const IdLists lists = expansions(merges, std::vector<bool>(merges.size()));
        std::map<std::string, std::uint32_t> ids;
        while (ids.size() < 9) {  // in the short cache, in the long one, in none
            for (const std::size_t longest : {3, 20, 50}) {
                ids.try_emplace(random.word("ab", longest), static_cast<std::uint32_t>(5000 + ids.size()));
            }
        }
        std::vector<WholeChunk> whole_chunks;
        for (const auto& [bytes, id] : ids) whole_chunks.push_back({bytes, id});
        const Encoder encoder(merges, {lists.ids, lists.offsets}, nullptr, whole_chunks);

        std::string text;
        std::vector<std::int64_t> ends;
        std::vector<std::uint32_t> expected;
        for (int chunk = 0; chunk < 60; ++chunk) {
            const auto& listed = *std::next(ids.begin(), static_cast<std::ptrdiff_t>(random.below(ids.size())));
            const std::string bytes = random.below(2) == 0 ? listed.first : random.word("ab", 50);
            text += bytes;
            ends.push_back(static_cast<std::int64_t>(text.size()));
            if (const auto found = ids.find(bytes); found != ids.end()) {
                expected.push_back(found->second);
            } else {
                const plain::Ranks ranks = plain::merge(merges, bytes);
                expected.insert(expected.end(), ranks.begin(), ranks.end());
            }
        }
        IdBuffer encoded;
        encoder.encode_chunks(text, ends, {}, encoded);
        CHECK_EQUAL(as_vector(encoded), expected);
        IdBuffer dropped;
        encoder.encode_chunks(text, ends, {1.0, 7}, dropped);
        CHECK_EQUAL(as_vector(dropped), plain::as_ranks(text));
    }
}

CASE("encoder: expansions that do not fit the merges") {
    const std::vector<Merge> merges{{Rank{97}, Rank{98}}};
    const IdLists lists = expansions({}, {});
    CHECK_THROWS(Encoder(merges, {lists.ids, lists.offsets}, nullptr), std::invalid_argument);
}

CASE("decoder: ids outside the vocabulary") {
    const std::vector<std::uint8_t> bytes{'a', 'b'};
    const std::vector<std::int64_t> offsets{0, 1, 2};
    const Decoder decoder(bytes, offsets);
    CHECK_EQUAL(decode(decoder, {1, 0, 1}), "bab");
    CHECK_EQUAL(decode(decoder, {}), "");
    for (const std::uint32_t id : {2u, 0xFFFFFFFFu}) {
        CHECK_EQUAL(decoder.measure(std::vector<std::uint32_t>{0, id}).unknown, std::size_t{1});
    }
}

CASE("encoder: a long run of one letter") {
    std::vector<Merge> merges{{Rank{97}, Rank{97}}};
    for (std::uint32_t rank = 256; rank < 266; ++rank) merges.push_back({Rank{rank}, Rank{rank}});
    const IdLists lists = expansions(merges, std::vector<bool>(merges.size()));
    const Encoder encoder(merges, {lists.ids, lists.offsets}, find_pretokenizer("none"));
    const std::string text(1 << 17, 'a');
    IdBuffer ids;
    encoder.encode(UnicodeText::utf8(text), {}, ids);
    CHECK_EQUAL(as_vector(ids), std::vector<std::uint32_t>(1 << 6, 266));
    // Nodes of the double array hold lengths below 128 only.
    for (const std::size_t size : {127, 128, 129, 255, 256, 257, 300, 511, 512, 513, 1023}) {
        const std::string part = text.substr(0, size);
        IdBuffer part_ids;
        encoder.encode(UnicodeText::utf8(part), {}, part_ids);
        CHECK_EQUAL(as_vector(part_ids), encode_plainly(merges, lists, part, {static_cast<std::int64_t>(size)}));
    }
}

CASE("sliced batch: several slices, and a lone surrogate by its index in the batch") {
    const std::vector<Merge> merges{{Rank{97}, Rank{97}}};
    const IdLists lists = expansions(merges, {false});
    const Encoder encoder(merges, {lists.ids, lists.offsets}, find_pretokenizer("none"));
    const std::string large(1 << 21, 'a');
    const char16_t bad[] = {0xD800};
    std::vector<UnicodeText> views(3, UnicodeText::utf8(large));
    for (const unsigned threads : {1u, 2u}) {
        SlicedBatch slices(encoder, views, {}, threads);
        for (int i = 0; i < 3; ++i) CHECK_EQUAL(slices.next()->ids.size(), large.size() / 2);
        CHECK(!slices.next());
    }
    views.push_back({bad, 1, 2, false});
    SlicedBatch slices(encoder, views, {}, 2);
    for (int i = 0; i < 3; ++i) CHECK(slices.next());
    try {
        slices.next();
        CHECK(false);
    } catch (const LoneSurrogate& error) {
        CHECK_EQUAL(error.text, std::size_t{3});
    }
}

CASE("documents: both encoders, as texts one by one") {
    check::Random random(33);
    const std::vector<Merge> merges = random_merges(random);
    const IdLists lists = expansions(merges, std::vector<bool>(merges.size()));
    const TokenStrings strings = spell(merges);
    const Encoder encoder(merges, {lists.ids, lists.offsets}, find_pretokenizer("gpt2"));
    const ShortestEncoder shortest(strings.bytes, strings.offsets, lists.ids, find_pretokenizer("gpt2"));
    const std::string text = random.word("abab c", 100) + "\n" + random.word("abab c", 100);
    const auto split = static_cast<std::int64_t>(text.find('\n'));
    const std::vector<DocumentSpan> documents{{0, split}, {split + 1, static_cast<std::int64_t>(text.size())}};
    IdBuffer ids, shortest_ids;
    for (const auto& [begin, end] : documents) {
        const std::string document = text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
        encoder.encode(UnicodeText::utf8(document), {}, ids);
        shortest.encode(UnicodeText::utf8(document), shortest_ids);
    }
    CHECK_EQUAL(as_vector(encoder.encode_documents(text, documents, 2).ids), as_vector(ids));
    CHECK_EQUAL(as_vector(shortest.encode_documents(text, documents, 2).ids), as_vector(shortest_ids));
}

CASE("shortest: the longest last token of equals, and the uses of every token") {
    std::string bytes;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint32_t> ids;
    const auto add = [&](const std::string& string) {
        bytes += string;
        offsets.push_back(static_cast<std::int64_t>(bytes.size()));
        ids.push_back(static_cast<std::uint32_t>(2 * ids.size()));
    };
    for (int byte = 0; byte < 256; ++byte) add(std::string(1, static_cast<char>(byte)));
    for (const char* string : {"aa", "aaa", "ba"}) add(string);
    const auto as_bytes = [](const std::string& text) {
        return std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    };
    const ShortestEncoder shortest(as_bytes(bytes), offsets, ids, nullptr);

    const std::string text = "aaaaabaaab";  // aa aaa, b aaa b
    const std::vector<std::int64_t> ends{5, 10}, chunk_offsets{0, 5, 10}, counts{3, 100};
    IdBuffer found;
    shortest.encode_chunks(text, ends, found);
    CHECK_EQUAL(as_vector(found), (std::vector<std::uint32_t>{512, 514, 196, 514, 196}));
    for (const unsigned threads : {1u, 3u}) {
        const std::vector<std::int64_t> uses = shortest.token_counts({as_bytes(text), chunk_offsets, counts, {}}, threads);
        CHECK_EQUAL(uses.size(), std::size_t{517});
        CHECK_EQUAL(std::accumulate(uses.begin(), uses.end(), std::int64_t{0}), std::int64_t{306});
        CHECK_EQUAL((std::vector{uses[512], uses[514], uses[516], uses[196]}), (std::vector<std::int64_t>{3, 103, 0, 200}));
    }
}

CASE("double array: walks and steps against a list of strings") {
    check::Random random(34);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::string> strings;
        for (int byte = 0; byte < 256; ++byte) strings.emplace_back(1, static_cast<char>(byte));
        for (std::size_t i = random.below(300); i > 0; --i) {
            const std::string string = random.word(round % 2 == 0 ? "ab" : "abcdefgh", round % 10 == 0 ? 300 : 12);
            if (std::find(strings.begin(), strings.end(), string) == strings.end()) strings.push_back(string);
        }
        std::vector<std::uint8_t> bytes;
        std::vector<std::int64_t> offsets{0};
        for (const std::string& string : strings) {
            bytes.insert(bytes.end(), string.begin(), string.end());
            offsets.push_back(static_cast<std::int64_t>(bytes.size()));
        }
        const DoubleArray array(bytes, offsets);
        const auto longest_of = [&](std::string_view text, bool is_proper) {
            std::uint32_t best = DoubleArray::none;
            for (std::uint32_t i = 0; i < strings.size(); ++i) {
                const bool is_prefix = text.starts_with(strings[i]) && !(is_proper && text == strings[i]);
                if (is_prefix && (best == DoubleArray::none || strings[i].size() > strings[best].size())) best = i;
            }
            return best;
        };
        for (std::uint32_t i = 0; i < strings.size(); ++i) CHECK_EQUAL(array.shorter()[i], longest_of(strings[i], true));
        for (int i = 0; i < 50; ++i) {
            const std::string text = random.word("abcdefgh", 20);
            CHECK_EQUAL(array.walk(text.data(), text.data() + text.size()).longest(), longest_of(text, false));
            DoubleArray::Node node = array.first(static_cast<unsigned char>(text[0]));
            for (std::size_t length = 1;; ++length) {
                const std::string path = text.substr(0, length);
                const auto found = std::find(strings.begin(), strings.end(), path);
                CHECK_EQUAL(node.is_string(), found != strings.end());
                CHECK_EQUAL(node.longest(), longest_of(path, false));
                CHECK_EQUAL(node.length(), strings[node.longest()].size() % 128);
                const bool is_last = length == text.size() || !array.step(node, static_cast<unsigned char>(text[length]));
                if (is_last) break;
            }
        }
    }
}

CASE("double array: strings it refuses") {
    std::vector<std::uint8_t> bytes(256);
    std::vector<std::int64_t> offsets{0};
    for (std::size_t i = 0; i < 256; ++i) {
        bytes[i] = static_cast<std::uint8_t>(i);
        offsets.push_back(static_cast<std::int64_t>(i + 1));
    }
    static_cast<void>(DoubleArray(bytes, offsets));
    offsets.push_back(256);
    CHECK_THROWS(DoubleArray(bytes, offsets), std::invalid_argument);  // empty
    bytes.push_back('a');
    offsets.back() = 257;
    CHECK_THROWS(DoubleArray(bytes, offsets), std::invalid_argument);  // twice
    offsets.erase(offsets.begin() + 98);
    CHECK_THROWS(DoubleArray(bytes, offsets), std::invalid_argument);  // byte 97 is part of a longer string
}
