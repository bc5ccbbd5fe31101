// The scanners of find_pretokenizer, one file each, all with the signature of NextChunk. They are inline: a loop
// over chunks that knows its scanner at compile time makes no calls.
#pragma once

#include "pretokenizers/cl100k.hpp"
#include "pretokenizers/gpt2.hpp"
#include "pretokenizers/none.hpp"
#include "pretokenizers/o200k.hpp"
#include "pretokenizers/paper.hpp"
