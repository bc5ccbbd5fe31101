#include <algorithm>
#include <unordered_map>

#include "merges/pair.hpp"
#include "prunedbpe/baselines.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {
namespace {

constexpr std::uint32_t nowhere = 0xFFFFFFFF;    // not an offset
constexpr std::uint32_t swallowed = 0xFFFFFFFF;  // not a token: a merge has taken these bytes
constexpr std::uint32_t never = 0xFFFFFFFF;      // not an event

/// The first of some rising event numbers that is not below `now`.
std::uint32_t next_after(const std::vector<std::uint32_t>& events, std::uint32_t now) {
    const auto found = std::lower_bound(events.begin(), events.end(), now);
    return found == events.end() ? never : *found;
}

}  // namespace

struct PickyEncoder::Events {
    std::vector<PickyEvent> all;
    std::vector<std::uint32_t> parts;
    // By pair, rising event numbers: mostly one, more if a removed token came back.
    std::unordered_map<Pair, std::vector<std::uint32_t>, PairHash> merges;
    std::vector<std::vector<std::uint32_t>> splits;  // by token: rising event numbers
    std::vector<std::uint32_t> lengths;              // by token, in bytes

    class Chunk;
};

/// Replays the events on one chunk: tokens as a linked list over byte offsets, possible events in a heap by
/// number, then offset. `now` is the first event that may still happen. A heap entry whose tokens are no longer
/// there is dropped when popped.
class PickyEncoder::Events::Chunk {
public:
    explicit Chunk(const Events& events) : events_(events) {}

    template <class Record>
    void run(std::string_view chunk, Record record) {
        const std::size_t count = chunk.size();
        tokens_.resize(count);
        next_.resize(count);
        previous_.resize(count);
        heap_.clear();
        for (std::size_t i = 0; i < count; ++i) {
            tokens_[i] = static_cast<unsigned char>(chunk[i]);
            next_[i] = i + 1 < count ? static_cast<std::uint32_t>(i + 1) : nowhere;
            previous_[i] = static_cast<std::uint32_t>(i) - 1;  // nowhere for the first
        }
        for (std::size_t i = 0; i + 1 < count; ++i) consider_merge(static_cast<std::uint32_t>(i), 0);
        while (!heap_.empty()) {
            std::pop_heap(heap_.begin(), heap_.end(), later);
            const Entry entry = heap_.back();
            heap_.pop_back();
            const PickyEvent& event = events_.all[entry.event];
            if (event.kind == PickyEvent::merge) {
                const std::uint32_t right = next_[entry.at];
                if (tokens_[entry.at] != event.first || right == nowhere || tokens_[right] != event.second) continue;
                merge(entry, right);
                record(entry.event, -1);
            } else if (tokens_[entry.at] == event.token) {
                split(entry, parts_of(event));
                record(entry.event, static_cast<std::int64_t>(event.second - event.first) - 1);
            }
        }
    }

    template <class Visit>
    void for_each_token(Visit visit) const {
        if (tokens_.empty()) return;
        for (std::uint32_t at = 0; at != nowhere; at = next_[at]) visit(tokens_[at]);
    }

private:
    struct Entry {
        std::uint32_t event;
        std::uint32_t at;
    };
    static bool later(const Entry& a, const Entry& b) { return a.event != b.event ? a.event > b.event : a.at > b.at; }

    std::span<const std::uint32_t> parts_of(const PickyEvent& event) const {
        return std::span(events_.parts).subspan(event.first, event.second - event.first);
    }

    void push(Entry entry) {
        if (entry.event == never) return;
        heap_.push_back(entry);
        std::push_heap(heap_.begin(), heap_.end(), later);
    }
    void consider_merge(std::uint32_t at, std::uint32_t now) {
        if (at == nowhere || next_[at] == nowhere) return;
        const auto found = events_.merges.find({tokens_[at], tokens_[next_[at]]});
        if (found != events_.merges.end()) push({next_after(found->second, now), at});
    }
    void consider_split(std::uint32_t at, std::uint32_t now) {
        const std::uint32_t token = tokens_[at];
        if (!events_.splits[token].empty()) push({next_after(events_.splits[token], now), at});
    }

    void merge(Entry entry, std::uint32_t right) {
        tokens_[entry.at] = events_.all[entry.event].token;
        tokens_[right] = swallowed;
        next_[entry.at] = next_[right];
        if (next_[right] != nowhere) previous_[next_[right]] = entry.at;
        consider_split(entry.at, entry.event + 1);
        consider_merge(entry.at, entry.event + 1);
        consider_merge(previous_[entry.at], entry.event + 1);
    }

    void split(Entry entry, std::span<const std::uint32_t> pieces) {
        const std::uint32_t after = next_[entry.at];
        std::uint32_t at = entry.at;
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            tokens_[at] = pieces[i];
            const std::uint32_t next = i + 1 < pieces.size() ? at + events_.lengths[pieces[i]] : after;
            next_[at] = next;
            if (next != nowhere) previous_[next] = at;
            at = next;
        }
        consider_merge(previous_[entry.at], entry.event + 1);
        for (at = entry.at; at != after; at = next_[at]) {
            consider_split(at, entry.event + 1);
            consider_merge(at, entry.event + 1);
        }
    }

    const Events& events_;
    std::vector<std::uint32_t> tokens_, next_, previous_;
    std::vector<Entry> heap_;
};

PickyEncoder::PickyEncoder(std::span<const PickyEvent> events, std::span<const std::uint32_t> parts)
    : events_(std::make_unique<Events>()) {
    Events& e = *events_;
    e.all.assign(events.begin(), events.end());
    e.parts.assign(parts.begin(), parts.end());
    e.lengths.assign(byte_count, 1);
    for (std::size_t i = 0; i < events.size(); ++i) {
        const auto number = static_cast<std::uint32_t>(i);
        const PickyEvent& event = events[i];
        if (event.kind == PickyEvent::merge) {
            e.merges[{event.first, event.second}].push_back(number);
            if (event.token == e.lengths.size()) e.lengths.push_back(e.lengths[event.first] + e.lengths[event.second]);
        }
    }
    e.splits.resize(e.lengths.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (events[i].kind == PickyEvent::split) e.splits[events[i].token].push_back(static_cast<std::uint32_t>(i));
    }
}

PickyEncoder::~PickyEncoder() = default;

void PickyEncoder::encode(std::string_view chunk, std::vector<std::uint32_t>& tokens) const {
    Events::Chunk work(*events_);
    work.run(chunk, [](std::uint32_t, std::int64_t) {});
    work.for_each_token([&](std::uint32_t token) { tokens.push_back(token); });
}

std::vector<std::int64_t> PickyEncoder::changes(const ChunkCountsView& counts, unsigned threads) const {
    WorkerTeam team(threads);
    std::vector<std::vector<std::int64_t>> found(team.size(), std::vector<std::int64_t>(events_->all.size()));
    team.run([&](unsigned worker) {
        Events::Chunk work(*events_);
        const Part part = part_of(counts.size(), worker, team.size());
        for (std::size_t i = part.begin; i < part.end; ++i) {
            const std::int64_t weight = counts.counts[i];
            work.run(counts.chunk(i), [&](std::uint32_t event, std::int64_t change) {
                found[worker][event] += weight * change;
            });
        }
    });
    for (std::size_t worker = 1; worker < found.size(); ++worker) {
        for (std::size_t i = 0; i < found[0].size(); ++i) found[0][i] += found[worker][i];
    }
    return std::move(found[0]);
}

std::vector<std::uint32_t> PickyEncoder::encode_chunks(std::string_view text, std::span<const std::int64_t> ends) const {
    std::vector<std::uint32_t> tokens;
    std::size_t begin = 0;
    for (const std::int64_t chunk_end : ends) {
        const auto end = static_cast<std::size_t>(chunk_end);
        encode(text.substr(begin, end - begin), tokens);
        begin = end;
    }
    return tokens;
}

}  // namespace prunedbpe
