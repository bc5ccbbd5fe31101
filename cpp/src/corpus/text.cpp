#include "prunedbpe/corpus.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "util/simd/sixteen_bytes.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {

namespace {

using Byte = unsigned char;

constexpr std::uint64_t high_bits = 0x8080808080808080ULL;

/// Are the first six of eight bytes two three-byte characters that do not begin with E0 or ED, after which the second
/// byte is restricted? Nearly all Chinese and Japanese text passes, six bytes at a time.
bool holds_two_of_three(const Byte* at) {
    if constexpr (std::endian::native != std::endian::little) return false;
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    const auto is_plain = [](Byte lead) { return lead != 0xE0 && lead != 0xED; };
    return (word & 0x0000C0C0F0C0C0F0) == 0x00008080E08080E0 && is_plain(at[0]) && is_plain(at[3]);
}

bool is_continuation(Byte byte) { return (byte & 0xC0) == 0x80; }

/// Length of the character at `at` (a byte above 0x7F), or 0 if it is invalid. The range of the second byte depends on
/// the first, which rules out overlong forms (C0, C1, E0 80-9F, F0 80-8F), surrogates (ED A0-BF) and code points above
/// U+10FFFF (F4 90-BF, F5-FF).
std::size_t sequence_length(const Byte* at, const Byte* end) {
    const auto left = static_cast<std::size_t>(end - at);
    const Byte lead = at[0];
    if (lead < 0xC2) return 0;
    if (lead < 0xE0) return left >= 2 && is_continuation(at[1]) ? 2 : 0;
    if (lead < 0xF0) {
        const Byte low = lead == 0xE0 ? 0xA0 : 0x80;
        const Byte high = lead == 0xED ? 0x9F : 0xBF;
        return left >= 3 && at[1] >= low && at[1] <= high && is_continuation(at[2]) ? 3 : 0;
    }
    if (lead < 0xF5) {
        const Byte low = lead == 0xF0 ? 0x90 : 0x80;
        const Byte high = lead == 0xF4 ? 0x8F : 0xBF;
        return left >= 4 && at[1] >= low && at[1] <= high && is_continuation(at[2]) &&
                       is_continuation(at[3])
                   ? 4
                   : 0;
    }
    return 0;
}

/// A bit for each of the 64 bytes at `at`: set if it is never a lead byte, or restricts the next byte and that is out
/// of range. Assumes that leads are followed by continuations. `next` is the byte after the 64.
std::uint64_t find_bad_leads(const char* at, Byte next) {
    const auto is = [at](int byte) { return bits_of_64(at, [=](SixteenBytes bytes) { return bytes.is(byte); }); };
    const auto from = [at](int first) { return bits_of_64(at, [=](SixteenBytes bytes) { return bytes.from(first); }); };
    const auto next_from = [&](int first) { return from(first) >> 1 | std::uint64_t{next >= first} << 63; };
    const std::uint64_t next_a0 = next_from(0xA0), next_90 = next_from(0x90);
    return (is(0xE0) & ~next_a0) | (is(0xED) & next_a0) | (is(0xF0) & ~next_90) | (is(0xF4) & next_90) | is(0xC0) |
           is(0xC1) | from(0xF5);
}

/// An offset at which a character begins and before which all is UTF-8, less than 64 bytes and a character before the
/// first fault or the end. Checks 64 bytes at a time that continuations stand exactly where the lead bytes require
/// them.
std::size_t skip_valid_blocks(std::string_view text) {
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    const char* at = begin;
    std::uint64_t owed = 0;  // continuations at the start of this block that the last block requires
    for (; end - at >= 64; at += 64) {
        const std::uint64_t outside = bits_of_64(at, [](SixteenBytes bytes) { return bytes.is_outside_ascii(); });
        if ((outside | owed) == 0) continue;
        const std::uint64_t leads = bits_of_64(at, [](SixteenBytes bytes) { return bytes.from(0xC0); });
        const std::uint64_t leads_of_3 = bits_of_64(at, [](SixteenBytes bytes) { return bytes.from(0xE0); });
        const std::uint64_t leads_of_4 = bits_of_64(at, [](SixteenBytes bytes) { return bytes.from(0xF0); });
        if ((leads << 1 | leads_of_3 << 2 | leads_of_4 << 3 | owed) != (outside & ~leads)) break;
        owed = leads >> 63 | leads_of_3 >> 62 | leads_of_4 >> 61;
        const std::uint64_t delicate = bits_of_64(at, [](SixteenBytes bytes) {
            return bytes.is(0xE0) | bytes.is(0xED) | bytes.is(0xF0) | bytes.from(0xF4) | bytes.in(0xC0, 2);
        });
        if (delicate != 0 && find_bad_leads(at, end - at > 64 ? static_cast<Byte>(at[64]) : 0) != 0) break;
    }
    if (at > begin) {
        do --at;
        while (at > begin && is_continuation(static_cast<Byte>(*at)));
    }
    return static_cast<std::size_t>(at - begin);
}

/// At most one thread for each megabyte.
unsigned useful_threads(std::string_view text, unsigned threads) {
    return static_cast<unsigned>(std::min<std::size_t>(threads, text.size() >> 20));
}

}  // namespace

std::int64_t find_invalid_utf8(std::string_view text) {
    const Byte* const begin = reinterpret_cast<const Byte*>(text.data());
    const Byte* const end = begin + text.size();
    const Byte* at = begin;
    at += skip_valid_blocks(text);
    while (at < end) {
        while (end - at >= 8) {
            std::uint64_t word;
            std::memcpy(&word, at, 8);
            if ((word & high_bits) != 0) break;
            at += 8;
        }
        while (at < end && *at < 0x80) ++at;
        // Stay in this loop for the whole run of non-ASCII text: there the word test above would always fail.
        while (at < end && *at >= 0x80) {
            while (end - at >= 8 && holds_two_of_three(at)) at += 6;
            if (at == end || *at < 0x80) break;
            const std::size_t length = sequence_length(at, end);
            if (length == 0) return at - begin;
            at += length;
        }
    }
    return -1;
}

std::int64_t find_invalid_utf8(std::string_view text, unsigned threads) {
    threads = useful_threads(text, threads);
    if (threads < 2) return find_invalid_utf8(text);
    WorkerTeam team(threads);
    std::vector<std::int64_t> found(team.size(), -1);
    // Parts begin at a character: after up to three continuations. A fourth one is an error that the part reports.
    const auto character_from = [&](std::size_t at) {
        for (int i = 0; i < 3 && at < text.size() && is_continuation(static_cast<Byte>(text[at])); ++i) ++at;
        return at;
    };
    team.run([&](unsigned worker) {
        const Part part = part_of(text.size(), worker, team.size());
        const std::size_t begin = worker == 0 ? 0 : character_from(part.begin), end = character_from(part.end);
        const std::int64_t offset = find_invalid_utf8(text.substr(begin, end - begin));
        if (offset >= 0) found[worker] = static_cast<std::int64_t>(begin) + offset;
    });
    const auto first = std::find_if(found.begin(), found.end(), [](std::int64_t offset) { return offset >= 0; });
    return first == found.end() ? -1 : *first;
}

HugeVector<DocumentSpan> split_lines(std::string_view text) {
    HugeVector<DocumentSpan> lines;
    std::size_t begin = 0;
    const auto add = [&](std::size_t end) {
        if (end > begin) lines.push_back({static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)});
    };
    const auto add_terminated = [&](std::size_t newline) {
        add(newline > begin && text[newline - 1] == '\r' ? newline - 1 : newline);
        begin = newline + 1;
    };
    std::size_t at = 0;
    for (; at + 64 <= text.size(); at += 64) {
        std::uint64_t newlines = bits_of_64(text.data() + at, [](SixteenBytes bytes) { return bytes.is('\n'); });
        for (; newlines != 0; newlines &= newlines - 1) {
            add_terminated(at + static_cast<std::size_t>(std::countr_zero(newlines)));
        }
    }
    for (; at < text.size(); ++at) {
        if (text[at] == '\n') add_terminated(at);
    }
    add(text.size());
    return lines;
}

HugeVector<DocumentSpan> split_lines(std::string_view text, unsigned threads) {
    threads = useful_threads(text, threads);
    if (threads < 2) return split_lines(text);
    WorkerTeam team(threads);
    std::vector<HugeVector<DocumentSpan>> parts(team.size());
    const auto line_from = [&](std::size_t at) {
        if (at == 0) return at;
        const std::size_t newline = text.find('\n', at - 1);
        return newline == std::string_view::npos ? text.size() : newline + 1;
    };
    team.run([&](unsigned worker) {
        const Part part = part_of(text.size(), worker, team.size());
        const std::size_t begin = line_from(part.begin), end = line_from(part.end);
        parts[worker] = split_lines(text.substr(begin, end - begin));
        for (DocumentSpan& line : parts[worker]) {
            line.begin += static_cast<std::int64_t>(begin);
            line.end += static_cast<std::int64_t>(begin);
        }
    });
    std::vector<std::size_t> ends;  // by part, in `lines`
    for (const auto& part : parts) ends.push_back((ends.empty() ? 0 : ends.back()) + part.size());
    HugeVector<DocumentSpan> lines(ends.back());
    team.run([&](unsigned worker) {
        const auto end = lines.begin() + static_cast<std::ptrdiff_t>(ends[worker]);
        std::copy_backward(parts[worker].begin(), parts[worker].end(), end);
        parts[worker] = {};
    });
    return lines;
}

}  // namespace prunedbpe
