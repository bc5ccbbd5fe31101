// How quickly one thread, and two at once that share nothing, add to random places of arrays of their own.
// Arguments: megabytes of each array, rounds. Prints nanoseconds for each place, a line "one both" a round.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <thread>
#include <vector>

namespace {

using Array = std::vector<std::uint32_t>;
constexpr int places = 2'000'000;

/// Nanoseconds for each place. The next place does not depend on what stands at this one, so they are fetched ahead.
double add_at_random(Array& array) {
    using Clock = std::chrono::steady_clock;
    const std::size_t mask = array.size() - 1;
    const Clock::time_point started = Clock::now();
    std::uint32_t random = 1;
    for (int i = 0; i < places; ++i) {
        random = random * 1664525u + 1013904223u;
        array[(random >> 4) & mask] += random;
    }
    return std::chrono::duration<double, std::nano>(Clock::now() - started).count() / places;
}

double add_at_random(Array& first, Array& second) {
    double of_second = 0;
    std::latch start(2);
    std::thread thread([&] {
        start.arrive_and_wait();
        of_second = add_at_random(second);
    });
    start.arrive_and_wait();
    const double of_first = add_at_random(first);
    thread.join();
    return std::max(of_first, of_second);
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) return 2;
    const std::size_t size = std::strtoull(arguments[1], nullptr, 10) << 18;
    Array first(size), second(size);
    for (int round = std::atoi(arguments[2]); round > 0; --round) {
        const double one = add_at_random(first);
        std::printf("%.4f %.4f\n", one, add_at_random(first, second));
    }
}
