// The scanners behind find_pretokenizer, one file each. All have the signature of NextChunk.
#pragma once

namespace prunedbpe {

const char* next_paper(const char* begin, const char* end);
const char* next_reference(const char* begin, const char* end);  // in paper.cpp: one rule less
const char* next_gpt2(const char* begin, const char* end);
const char* next_cl100k(const char* begin, const char* end);
const char* next_o200k(const char* begin, const char* end);
const char* next_none(const char* begin, const char* end);

}  // namespace prunedbpe
