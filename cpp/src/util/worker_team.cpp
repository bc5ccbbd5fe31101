#include "util/worker_team.hpp"

#include <algorithm>

namespace prunedbpe {

WorkerTeam::WorkerTeam(unsigned size) {
    if (size == 0) size = std::max(1u, std::thread::hardware_concurrency());
    errors_.resize(size);
    threads_.reserve(size - 1);
    try {
        for (unsigned worker = 1; worker < size; ++worker) threads_.emplace_back([this, worker] { work(worker); });
    } catch (...) {  // the system gives no more threads: send home those that wait, or the program ends
        end();
        throw;
    }
}

WorkerTeam::~WorkerTeam() { end(); }

void WorkerTeam::end() {
    ending_ = true;
    round_.fetch_add(1);
    round_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void WorkerTeam::run(const std::function<void(unsigned)>& job) {
    std::fill(errors_.begin(), errors_.end(), nullptr);
    job_ = &job;
    running_.store(static_cast<std::uint32_t>(threads_.size()));
    if (!threads_.empty()) {
        round_.fetch_add(1);
        round_.notify_all();
    }
    try {
        job(0);
    } catch (...) {
        errors_[0] = std::current_exception();
    }
    for (std::uint32_t left = running_.load(); left != 0; left = running_.load()) running_.wait(left);
    for (const std::exception_ptr& error : errors_) {
        if (error) std::rethrow_exception(error);
    }
}

void WorkerTeam::work(unsigned worker) {
    for (std::uint32_t seen = 0;; ++seen) {
        round_.wait(seen);
        if (ending_) return;
        try {
            (*job_)(worker);
        } catch (...) {
            errors_[worker] = std::current_exception();
        }
        if (running_.fetch_sub(1) == 1) running_.notify_one();
    }
}

}  // namespace prunedbpe
