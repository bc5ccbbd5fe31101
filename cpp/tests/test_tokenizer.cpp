#include <string>
#include <vector>

#include "check.hpp"
#include "corpora.hpp"
#include "merges/merge_chunk.hpp"
#include "prunedbpe/tokenizer.hpp"

using namespace prunedbpe;

namespace {

std::vector<Merge> random_merges(check::Random& random) {
    return plain::learn(plain::random_corpus(random), random.below(40)).merges;
}

std::vector<std::string> spell(const std::vector<Merge>& merges) {
    std::vector<std::string> strings;
    for (int byte = 0; byte < 256; ++byte) strings.emplace_back(1, static_cast<char>(byte));
    for (const Merge& merge : merges) strings.push_back(strings[raw(merge.left)] + strings[raw(merge.right)]);
    return strings;
}

/// Every rank stands for itself, or for its parts if `hidden` says so.
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

/// By merging every chunk byte by byte.
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

CASE("encoder and decoder: round trip, batches, chunks of others, dropout") {
    check::Random random(32);
    for (int round = 0; round < 100; ++round) {
        const std::vector<Merge> merges = random_merges(random);
        std::vector<bool> hidden(merges.size());
        for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] = random.below(3) == 0;
        const IdLists lists = expansions(merges, hidden);
        const Encoder encoder(merges, {lists.ids, lists.offsets}, find_pretokenizer("paper"));

        std::string bytes;
        std::vector<std::int64_t> offsets{0};
        for (const std::string& string : spell(merges)) {
            bytes += string;
            offsets.push_back(static_cast<std::int64_t>(bytes.size()));
        }
        const Decoder decoder({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, offsets);

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
                std::vector<std::int64_t> chunk_ends;
                for_each_chunk(find_pretokenizer("paper"), texts[i], [&](std::string_view chunk) {
                    chunk_ends.push_back(chunk.data() + chunk.size() - texts[i].data());
                });
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
            }
        }
    }
}

CASE("unreachable tokens: found as by merging the bytes of each") {
    check::Random random(57);
    int faulty = 0;
    for (int round = 0; round < 5000; ++round) {
        // Any two tokens over three letters: most lists soon have a token that nothing makes.
        std::vector<Merge> merges;
        const auto any_part = [&] {
            const std::size_t part = random.below(3 + merges.size());
            return Rank{static_cast<std::uint32_t>(part < 3 ? 'a' + part : 256 + part - 3)};
        };
        for (std::size_t count = 1 + random.below(7); merges.size() < count;) merges.push_back({any_part(), any_part()});
        const std::vector<std::string> strings = spell(merges);
        std::optional<std::uint32_t> expected;
        for (std::uint32_t rank = 256; rank < strings.size() && !expected; ++rank) {
            if (plain::merge(merges, strings[rank]) != std::vector<std::uint32_t>{rank}) expected = rank;
        }
        CHECK(find_unreachable(merges) == expected);
        faulty += expected.has_value();
    }
    CHECK(faulty > 1000 && faulty < 4500);
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
        CHECK_EQUAL(decoder.measure(std::vector<std::uint32_t>{0, id}).bad_place, std::size_t{1});
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
    // A node of the trie knows lengths below 256 only.
    for (const std::size_t size : {255, 256, 257, 300, 511, 512, 513, 1023}) {
        const std::string part = text.substr(0, size);
        IdBuffer part_ids;
        encoder.encode(UnicodeText::utf8(part), {}, part_ids);
        CHECK_EQUAL(as_vector(part_ids), encode_plainly(merges, lists, part, {static_cast<std::int64_t>(size)}));
    }
}
