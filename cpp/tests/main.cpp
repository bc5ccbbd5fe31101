// Runs every case, or those whose name contains the first argument.
#include <cstdio>
#include <exception>
#include <string>

#include "check.hpp"

int main(int argc, char** argv) {
    const std::string wanted = argc > 1 ? argv[1] : "";
    int run = 0, failed = 0;
    for (const check::Case& test : check::cases()) {
        if (test.name.find(wanted) == std::string::npos) continue;
        ++run;
        try {
            test.body();
        } catch (const std::exception& error) {
            ++failed;
            std::fprintf(stderr, "FAILED %s\n  %s\n", test.name.c_str(), error.what());
        }
    }
    std::fprintf(stderr, "%d cases, %d failed\n", run, failed);
    return failed == 0 && run > 0 ? 0 : 1;
}
