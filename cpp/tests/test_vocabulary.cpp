// Lines of vocabulary files, which come from outside: whatever they hold, reading has a defined result.
#include <array>
#include <string>

#include "check.hpp"
#include "vocabulary/vocabulary_lines.hpp"

using namespace prunedbpe;

namespace {

using Columns = std::array<std::string, 4>;

/// A line with the columns id, left id, right id and rank.
std::string line_of(const Columns& columns) {
    return columns[0] + "\t(" + columns[1] + ", " + columns[2] + ")\t'ab'\t" + columns[3] + "\n";
}

}  // namespace

CASE("a vocabulary line with numbers of nine digits is read") {
    const auto lines = read_vocabulary_lines(line_of({"256", "999999999", "98", "123456789"}), 256);
    CHECK(lines.has_value());
    CHECK_EQUAL(lines->lefts.at(0), 999999999);
    CHECK_EQUAL(lines->rights.at(0), 98);
    CHECK_EQUAL(lines->ranks.at(0), 123456789);
}

CASE("a vocabulary line with a number of more digits is refused") {
    for (const std::size_t digits : {10u, 18u, 19u, 20u, 40u}) {
        for (std::size_t column = 0; column < 4; ++column) {
            for (const char* sign : {"", "-"}) {
                Columns columns{"256", "97", "98", "256"};
                columns[column] = sign + std::string(digits, '9');
                CHECK(!read_vocabulary_lines(line_of(columns), 256).has_value());
            }
        }
    }
}
