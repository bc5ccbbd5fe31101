// The scanners behind find_pretokenizer, one file each.
#pragma once

namespace prunedbpe {

const char* next_none(const char* begin, const char* end);

}  // namespace prunedbpe
