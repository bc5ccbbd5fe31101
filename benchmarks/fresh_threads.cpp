// What threads of a process that has just started pay: for a cache line that goes to the other thread and back, and for
// pages of new memory, taken by one thread or by two at once. Prints nanoseconds: line, page of one, page of two.
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <latch>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;
constexpr int trips = 50'000;
constexpr std::size_t page_size = 4096, pages = 2000;

double since(Clock::time_point started) { return std::chrono::duration<double, std::nano>(Clock::now() - started).count(); }

double there_and_back() {
    std::atomic<int> line{0};
    std::thread other([&] {
        for (int i = 1; i < 2 * trips; i += 2) {
            while (line.load() != i) {
            }
            line.store(i + 1);
        }
    });
    const Clock::time_point started = Clock::now();
    for (int i = 0; i < 2 * trips; i += 2) {
        line.store(i + 1);
        while (line.load() != i + 2) {
        }
    }
    const double nanoseconds = since(started) / trips;
    other.join();
    return nanoseconds;
}

void touch(char* memory) {
    for (std::size_t page = 0; page < pages; ++page) memory[page * page_size] = 1;
}

/// For each page of both halves together.
double take_pages(bool at_once) {
    void* const taken = mmap(nullptr, 2 * pages * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (taken == MAP_FAILED) return 0;
    madvise(taken, 2 * pages * page_size, MADV_NOHUGEPAGE);
    char* const memory = static_cast<char*>(taken);
    std::latch start(2);
    std::thread other([&] {
        start.arrive_and_wait();
        if (at_once) touch(memory + pages * page_size);
    });
    start.arrive_and_wait();
    const Clock::time_point started = Clock::now();
    touch(memory);
    if (!at_once) touch(memory + pages * page_size);
    other.join();
    const double nanoseconds = since(started) / (2 * pages);
    munmap(taken, 2 * pages * page_size);
    return nanoseconds;
}

}  // namespace

int main() {
    const double line = there_and_back();
    const double one = take_pages(false);
    std::printf("%.1f %.1f %.1f\n", line, one, take_pages(true));
}
