// The scanners behind find_pretokenizer, one file each. All have the signature of NextChunk. They are
// inline, so that a loop over chunks that knows its scanner makes no calls.
#pragma once

#include "pretokenize/cl100k.hpp"
#include "pretokenize/gpt2.hpp"
#include "pretokenize/none.hpp"
#include "pretokenize/o200k.hpp"
#include "pretokenize/paper.hpp"
