// A minimal test framework: CASE defines a test, CHECK states what must hold, main runs them all.
#pragma once

#include <cstdint>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace check {

struct Case {
    std::string name;
    std::function<void()> body;
};

inline std::vector<Case>& cases() {
    static std::vector<Case> all;
    return all;
}

struct Register {
    Register(const char* name, std::function<void()> body) { cases().push_back({name, std::move(body)}); }
};

[[noreturn]] inline void fail(const char* file, int line, const std::string& what) {
    throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + what);
}

/// Random numbers that are the same on every platform (splitmix64).
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }
    std::size_t below(std::size_t end) { return static_cast<std::size_t>(next() % end); }

    /// Between 1 and `longest` letters of `alphabet`, often a repeated pattern.
    std::string word(const std::string& alphabet, std::size_t longest) {
        std::string text;
        const std::size_t length = 1 + below(longest);
        if (below(2) == 0) {
            while (text.size() < length) text += alphabet[below(alphabet.size())];
            return text;
        }
        const std::string period = word(alphabet, 3);
        while (text.size() < length) text += period;
        return text.substr(0, length);
    }

private:
    std::uint64_t state_;
};

}  // namespace check

#define CHECK_JOIN_AGAIN(a, b) a##b
#define CHECK_JOIN(a, b) CHECK_JOIN_AGAIN(a, b)
#define CASE(name)                                                                         \
    static void CHECK_JOIN(case_, __LINE__)();                                             \
    static const check::Register CHECK_JOIN(register_, __LINE__)(name, CHECK_JOIN(case_, __LINE__)); \
    static void CHECK_JOIN(case_, __LINE__)()

#define CHECK(condition)                                             \
    do {                                                             \
        if (!(condition)) check::fail(__FILE__, __LINE__, #condition); \
    } while (false)

#define CHECK_EQUAL(a, b)                                                                      \
    do {                                                                                       \
        const auto& left_ = (a);                                                               \
        const auto& right_ = (b);                                                              \
        if (!(left_ == right_)) check::fail(__FILE__, __LINE__, #a " is not " #b);             \
    } while (false)

#define CHECK_THROWS(expression, type)                                                  \
    do {                                                                                \
        bool thrown_ = false;                                                           \
        try {                                                                           \
            static_cast<void>(expression);                                              \
        } catch (const type&) {                                                         \
            thrown_ = true;                                                             \
        }                                                                               \
        if (!thrown_) check::fail(__FILE__, __LINE__, #expression " does not throw " #type); \
    } while (false)
