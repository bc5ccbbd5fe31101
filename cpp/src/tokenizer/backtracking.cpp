#include "tokenizer/backtracking.hpp"

#include <stdexcept>

#include "prunedbpe/interrupt.hpp"

namespace prunedbpe {
namespace {

/// Dead ends of a short chunk, in a register.
struct FewDeadEnds {
    std::uint64_t bits = 0;
    bool operator[](std::size_t position) const { return bits >> position & 1; }
    void add(std::size_t position) { bits |= std::uint64_t{1} << position; }
};

struct ManyDeadEnds {
    std::uint64_t* words;
    bool operator[](std::size_t position) const { return words[position >> 6] >> (position & 63) & 1; }
    void add(std::size_t position) { words[position >> 6] |= std::uint64_t{1} << (position & 63); }
};

/// Ranks of a short chunk.
struct FewRanks {
    std::uint32_t ranks[Backtracker::short_limit];
    std::size_t count = 0;
    void push(std::uint32_t rank) { ranks[count++] = rank; }
    void pop() { --count; }
    bool is_empty() const { return count == 0; }
    std::uint32_t last() const { return ranks[count - 1]; }
};

/// Ranks of a long chunk, after what is in the buffer already.
struct ManyRanks {
    IdBuffer& buffer;
    std::size_t before = buffer.size();
    void push(std::uint32_t rank) {
        *buffer.room(1) = rank;
        buffer.advance(1);
        if (buffer.size() % poll_bytes == 0) [[unlikely]] poll_interrupt();
    }
    void pop() { buffer.cut(buffer.size() - 1); }
    bool is_empty() const { return buffer.size() == before; }
    std::uint32_t last() const { return buffer.data()[buffer.size() - 1]; }
};

}  // namespace

Backtracker::Backtracker(const MergeLookup& lookup, std::span<const Merge> merges, const TokenStrings& strings,
                         const Expansions& expansions)
    : strings_(strings.bytes, strings.offsets), adjacency_(lookup), expansions_(expansions) {
    const std::vector<Signature> signatures = make_signatures(merges);
    tokens_.reserve(expansions.size() + 1);
    for (std::uint32_t rank = 0; rank < expansions.size(); ++rank) {
        const auto length = static_cast<std::uint32_t>(strings[rank].size());
        tokens_.push_back({signatures[rank], length, strings_.shorter()[rank], expansions.id_of(rank)});
    }
    tokens_.push_back({});
}

/// Asks Adjacency every time.
class Backtracker::AskAlways {
public:
    explicit AskAlways(const Backtracker& backtracker) : adjacency_(backtracker.adjacency_) {}
    bool allow(std::uint32_t left, std::uint32_t right) const { return adjacency_.allows(left, right); }
    /// The next token to try after `left`: `right` or something shorter.
    std::uint32_t next_try(std::uint32_t, std::uint32_t right) const { return right; }

private:
    const Adjacency& adjacency_;
};

/// Asks the memo first.
class Backtracker::AskOnce {
public:
    AskOnce(const Backtracker& backtracker, Followers& followers)
        : adjacency_(backtracker.adjacency_), tokens_(backtracker.tokens_) {
        if (followers.entries.empty()) followers.entries.resize(std::size_t{1} << Followers::bits);
        entries_ = followers.entries.data();
    }
    bool allow(std::uint32_t left, std::uint32_t right) const { return next_try(left, right) == right; }
    std::uint32_t next_try(std::uint32_t left, std::uint32_t right) const {
        const bool is_start = left == tokens_.size() - 1;
        if (is_start || right == DoubleArray::none) return right;
        const std::uint64_t question = std::uint64_t{left} << 32 | right;
        Followers::Entry& entry = entries_[hash_key(question) >> (64 - Followers::bits)];
        if (entry.question != question) {
            while (right != DoubleArray::none && !adjacency_.allows(left, right)) right = tokens_[right].shorter;
            entry = {question, right};
        }
        return entry.longest;
    }

private:
    const Adjacency& adjacency_;
    const std::vector<Token>& tokens_;
    Followers::Entry* entries_;
};

std::uint32_t* Backtracker::encode_short(std::string_view chunk, std::uint32_t* out) const {
    FewRanks ranks;
    split(chunk, FewDeadEnds{}, ranks, AskAlways(*this));
    for (std::size_t i = 0; i < ranks.count; ++i) {
        const std::uint32_t id = tokens_[ranks.ranks[i]].id;
        if (id != Expansions::internal) [[likely]] {
            *out++ = id;
        } else {
            for (const std::uint32_t part : expansions_[ranks.ranks[i]]) *out++ = part;
        }
    }
    return out;
}

void Backtracker::encode(std::string_view chunk, Scratch& scratch, IdBuffer& ids) const {
    if (chunk.size() <= short_limit) {
        ids.advance_to(encode_short(chunk, ids.room(short_limit)));
        return;
    }
    ManyRanks ranks{ids};
    scratch.dead_ends.assign(chunk.size() / 64 + 1, 0);
    split(chunk, ManyDeadEnds{scratch.dead_ends.data()}, ranks, AskOnce(*this, scratch.followers));
    // Turns ranks into ids in place. From the first internal one on, ids may outnumber ranks: copy the rest first.
    for (std::size_t i = ranks.before; i < ids.size(); ++i) {
        const std::uint32_t id = tokens_[ids.data()[i]].id;
        if (id == Expansions::internal) [[unlikely]] {
            scratch.ranks.assign(ids.data() + i, ids.data() + ids.size());
            ids.cut(i);
            for (const std::uint32_t rank : scratch.ranks) ids.append(expansions_[rank]);
            return;
        }
        ids.data()[i] = id;
    }
}

template <class DeadEnds, class Ranks, class Neighbours>
void Backtracker::split(std::string_view chunk, DeadEnds dead_ends, Ranks& ranks, Neighbours neighbours) const {
    const char* const begin = chunk.data();
    const char* const end = begin + chunk.size();
    const char* at = begin;
    const Token* const tokens = tokens_.data();
    const auto start = static_cast<std::uint32_t>(tokens_.size() - 1);
    std::uint32_t last = start, rank, length;
    const auto find_longest = [&] {
        const DoubleArray::Node node = strings_.walk(at, end);
        rank = node.longest();
        length = node.length();
    };
    find_longest();
    while (true) {
        if (length == 0) [[unlikely]] length = tokens[rank].length;
        const Token& token = tokens[rank];
        const bool is_dead_end = dead_ends[static_cast<std::size_t>(at - begin) + length];
        const bool is_sure = tokens[last].signature.surely_allows(token.signature) & !is_dead_end;
        if (is_sure || (!is_dead_end && neighbours.allow(last, rank))) {
            ranks.push(rank);
            at += length;
            if (at == end) return;
            last = rank;
            find_longest();
            continue;
        }
        rank = neighbours.next_try(last, token.shorter);
        while (rank == DoubleArray::none) {
            // No token may follow here: take the last one back and continue with the next shorter one.
            if (ranks.is_empty()) throw std::logic_error("a token of the vocabulary can never appear");
            dead_ends.add(static_cast<std::size_t>(at - begin));
            rank = tokens[last].shorter;
            at -= tokens[last].length;
            ranks.pop();
            last = ranks.is_empty() ? start : ranks.last();
        }
        length = 0;  // not known yet
    }
}

}  // namespace prunedbpe
