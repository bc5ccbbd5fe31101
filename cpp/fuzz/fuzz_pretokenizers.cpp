// Any bytes, cut by every built-in pretokenizer: chunks joined are the input; on text, blocks cut as chunk by chunk.
#include "fuzz_input.hpp"
#include "prunedbpe/corpus.hpp"
#include "scanning.hpp"

using namespace prunedbpe;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(fuzz::Input(data, size).rest());
    const bool is_text = find_invalid_utf8(text) == -1;
    for (const char* name : {"none", "paper", "reference", "gpt2", "cl100k", "llama3", "qwen2", "o200k"}) {
        scanning::check_cut(find_pretokenizer(name), text);
        if (!is_text) continue;
        for_each_chunk(find_pretokenizer(name), text,
                       [](std::string_view chunk) { CHECK_EQUAL(find_invalid_utf8(chunk), -1); });
    }
    if (is_text) {
        scanning::check_scanners(text);
    } else {
        scanning::check_scanners_are_safe(text);
    }
    return 0;
}
