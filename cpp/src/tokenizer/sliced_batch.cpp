#include "prunedbpe/tokenizer.hpp"

namespace prunedbpe {

SlicedBatch::SlicedBatch(const Encoder& encoder, std::span<const UnicodeText> texts, const Dropout& dropout,
                         unsigned threads)
    : encoder_(encoder), texts_(texts), dropout_(dropout), threads_(threads) {
    if (!texts.empty()) start();
}

void SlicedBatch::start() {
    constexpr std::size_t slice_length = 1 << 21;  // characters; shorter slices lose more to starting threads
    begin_ = end_;
    for (std::size_t length = 0; end_ < texts_.size() && length < slice_length; ++end_) length += texts_[end_].length;
    const auto policy = threads_ == 1 ? std::launch::deferred : std::launch::async;
    running_ = std::async(policy, [this, begin = begin_, end = end_, interrupt = Interrupt::current()] {
        const Interrupt::Shared shared(interrupt);
        return encoder_.encode_batch(texts_.subspan(begin, end - begin), {dropout_.probability, dropout_.seed + begin},
                                     threads_);
    });
}

std::optional<EncodedBatch> SlicedBatch::next() {
    if (!running_.valid()) return std::nullopt;
    do {
        poll_interrupt();
    } while (running_.wait_for(Interrupt::default_interval) == std::future_status::timeout);
    std::optional<EncodedBatch> batch;
    try {
        batch = running_.get();
    } catch (LoneSurrogate& error) {
        error.text += begin_;
        throw;
    }
    if (end_ < texts_.size()) start();
    return batch;
}

}  // namespace prunedbpe
