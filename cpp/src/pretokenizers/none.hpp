// "none": a document is one chunk.
#pragma once

namespace prunedbpe {

inline const char* next_none(const char*, const char* end) { return end; }

}  // namespace prunedbpe
