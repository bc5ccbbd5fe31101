// "none": a document is one chunk.
#include "pretokenize/scanners.hpp"

namespace prunedbpe {

const char* next_none(const char*, const char* end) { return end; }

}  // namespace prunedbpe
