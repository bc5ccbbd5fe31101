#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "util/worker_team.hpp"

using namespace prunedbpe;

CASE("worker team: every worker runs once a round, over many rounds") {
    for (const unsigned size : {1u, 2u, 3u, 7u}) {
        WorkerTeam team(size);
        CHECK_EQUAL(team.size(), size);
        std::vector<int> runs(size);  // not atomic: `run` must order the rounds
        for (int round = 0; round < 500; ++round) team.run([&](unsigned worker) { ++runs[worker]; });
        for (const int count : runs) CHECK_EQUAL(count, 500);
    }
}

CASE("worker team: the caller sees what workers wrote") {
    WorkerTeam team(4);
    std::vector<int> values(4000);
    for (int round = 1; round <= 50; ++round) {
        team.run([&](unsigned worker) {
            const Part part = part_of(values.size(), worker, team.size());
            for (std::size_t i = part.begin; i < part.end; ++i) values[i] += round;
        });
        CHECK_EQUAL(std::accumulate(values.begin(), values.end(), 0), 4000 * round * (round + 1) / 2);
    }
}

CASE("worker team: the first worker's exception is thrown, and the team stays usable") {
    WorkerTeam team(3);
    for (int round = 0; round < 100; ++round) {
        std::string message;
        try {
            team.run([](unsigned worker) {
                if (worker >= 1) throw std::runtime_error(std::to_string(worker));
            });
        } catch (const std::runtime_error& error) {
            message = error.what();
        }
        CHECK_EQUAL(message, "1");
        CHECK_THROWS(team.run([](unsigned worker) { if (worker == 0) throw std::logic_error("caller"); }),
                     std::logic_error);
        std::atomic<int> runs{0};
        team.run([&](unsigned) { ++runs; });
        CHECK_EQUAL(runs.load(), 3);
    }
}

CASE("worker team: sleeping threads and a sleeping caller are woken") {
    using std::chrono::milliseconds;
    WorkerTeam team(2);
    const std::thread::id caller = std::this_thread::get_id();
    bool was_woken = false;  // in one of many rounds: a preempted thread may miss some
    for (int round = 0; round < 100 && !was_woken; ++round) {
        std::this_thread::sleep_for(milliseconds(3));  // longer than threads spin
        team.run([&](unsigned worker) {
            if (worker == 1) was_woken = std::this_thread::get_id() != caller;
            std::this_thread::sleep_for(worker == 0 ? milliseconds(2) : milliseconds(10));
        });
    }
    CHECK(was_woken);
}

CASE("worker team: jobs in quick succession, with threads that come late") {
    for (const unsigned size : {2u, 5u}) {
        WorkerTeam team(size);
        std::vector<int> runs(size);
        for (int round = 0; round < 20000; ++round) team.run([&](unsigned worker) { ++runs[worker]; });
        for (const int count : runs) CHECK_EQUAL(count, 20000);
    }
}

CASE("worker team: created and destroyed without a run") {
    for (int round = 0; round < 50; ++round) WorkerTeam team(5);
    CHECK(WorkerTeam(0).size() >= 1);
}

CASE("parts: contiguous, complete, nearly equal") {
    for (const std::size_t count : {0, 1, 2, 6, 7, 8, 1000}) {
        for (const unsigned parts : {1u, 2u, 7u}) {
            std::size_t end = 0;
            for (unsigned i = 0; i < parts; ++i) {
                const Part part = part_of(count, i, parts);
                CHECK_EQUAL(part.begin, end);
                CHECK(part.end - part.begin <= count / parts + 1);
                end = part.end;
            }
            CHECK_EQUAL(end, count);
        }
    }
}
