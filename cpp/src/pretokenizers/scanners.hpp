// The scanners behind find_pretokenizer, one file each. All have the signature of NextChunk. They are
// inline, so that a loop over chunks that knows its scanner makes no calls.
#pragma once

#include "pretokenizers/cl100k.hpp"
#include "pretokenizers/gpt2.hpp"
#include "pretokenizers/none.hpp"
#include "pretokenizers/o200k.hpp"
#include "pretokenizers/paper.hpp"
