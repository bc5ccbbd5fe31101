#include <string>
#include <vector>

#include "check.hpp"
#include "tokenizer/chunk_cache.hpp"

using namespace prunedbpe;

namespace {

using SmallCache = ChunkCache<2, 3, 8>;  // 8 buckets, at most 256

SmallCache::Key key_of(std::uint32_t chunk) {
    const std::string bytes = std::to_string(chunk);
    return SmallCache::Key::of(bytes.data(), bytes.size(), bytes.data() + bytes.size());
}

/// One to four ids, different for every chunk.
std::vector<std::uint32_t> ids_of(std::uint32_t chunk) {
    std::vector<std::uint32_t> ids;
    for (std::uint32_t i = 0; i <= chunk % 4; ++i) ids.push_back(chunk * 4 + i);
    return ids;
}

bool knows(SmallCache& cache, std::uint32_t chunk) {
    std::uint32_t ids[SmallCache::most_ids];
    const std::uint32_t* const end = cache.find(key_of(chunk))->copy(key_of(chunk), ids);
    if (end == nullptr) return false;
    CHECK_EQUAL(std::vector<std::uint32_t>(std::begin(ids), std::begin(ids) + (end - ids)), ids_of(chunk));
    return true;
}

std::vector<bool> known(SmallCache& cache, std::uint32_t chunks) {
    std::vector<bool> result;
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) result.push_back(knows(cache, chunk));
    return result;
}

void add(SmallCache& cache, std::uint32_t chunk) {
    cache.add(*cache.find(key_of(chunk)), key_of(chunk), ids_of(chunk));
}

}  // namespace

CASE("chunk cache: grows while enough chunks are known, keeps what it has, and stops") {
    SmallCache cache;
    std::uint32_t chunks = 0;
    for (const std::size_t size : {8, 32, 64, 128, 256, 256}) {
        CHECK_EQUAL(cache.size(), size);
        const std::size_t enough = size < 32 ? size / 2 : size / 2 * 3;
        for (std::size_t i = 0; i < enough; ++i) {
            add(cache, chunks++);
            CHECK(knows(cache, chunks - 1));
            cache.grow_if_useful();  // only new chunks so far: does not grow
        }
        CHECK_EQUAL(cache.size(), size);
        for (std::size_t i = 0; i < enough; ++i) add(cache, chunks++);
        cache.count_lookups(enough * 5 / 4 + 1);
        const std::vector<bool> before = known(cache, chunks);
        cache.grow_if_useful();
        CHECK(known(cache, chunks) == before);
    }
    CHECK_EQUAL(cache.size(), std::size_t{256});
}

CASE("chunk cache: leaves out chunks with too many ids") {
    SmallCache cache;
    const std::vector<std::uint32_t> many{1, 2, 3, 4, 5};
    cache.add(*cache.find(key_of(7)), key_of(7), many);
    CHECK(!knows(cache, 7));
}
