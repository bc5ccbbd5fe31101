#include "prunedbpe/sources.hpp"

#include <algorithm>
#include <stdexcept>

#include "prunedbpe/visibility.hpp"

namespace prunedbpe {

void SourcesView::check(std::size_t chunk_count) const {
    if (offsets.size() != chunk_count + 1 || sources.size() != counts.size() || offsets.front() != 0 ||
        offsets.back() != static_cast<std::int64_t>(counts.size()) || !std::is_sorted(offsets.begin(), offsets.end())) {
        throw std::invalid_argument("the sources belong to another table of chunks");
    }
    if (std::any_of(sources.begin(), sources.end(), [&](std::uint32_t source) { return source >= source_count; })) {
        throw std::invalid_argument("a chunk occurs in a source that does not exist");
    }
}

std::vector<std::int64_t> tally_by_source(const IdListsView& chunks, const SourcesView& sources, std::size_t token_count) {
    sources.check(chunks.offsets.size() - 1);
    if (std::any_of(chunks.ids.begin(), chunks.ids.end(), [&](std::uint32_t id) { return id >= token_count; })) {
        throw std::invalid_argument("a token is out of range");
    }
    std::vector<std::int64_t> tally(token_count * sources.source_count, 0);
    for (std::size_t i = 0; i + 1 < chunks.offsets.size(); ++i) {
        for (std::int64_t j = chunks.offsets[i]; j < chunks.offsets[i + 1]; ++j) {
            std::int64_t* const row = tally.data() + chunks.ids[static_cast<std::size_t>(j)] * sources.source_count;
            sources.for_each(i, [&](std::uint32_t source, std::int64_t count) { row[source] += count; });
        }
    }
    return tally;
}

}  // namespace prunedbpe
