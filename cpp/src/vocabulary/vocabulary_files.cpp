#include <algorithm>
#include <stdexcept>

#include "prunedbpe/vocabulary.hpp"
#include "vocabulary/vocabulary_lines.hpp"

namespace prunedbpe {
namespace {

/// The lines of one file.
struct File {
    VocabularyLines lines;
    std::size_t first_id;  ///< of its first line

    std::size_t size() const { return lines.ranks.size(); }
    std::string_view token(std::size_t i) const { return lines.tokens[i]; }
};

/// Turns both files into a vocabulary, step by step. A step returns false if the files are not as this library writes
/// them.
class Reader {
public:
    Reader(File visible, File internal) : visible_(std::move(visible)), internal_(std::move(internal)) {}

    bool find_parts_of_files() {
        // Bytes, then learned tokens, then special ones; the internal file has only learned tokens.
        if (visible_.size() < byte_count) return false;
        for (std::size_t i = 0; i < byte_count; ++i) {
            const std::string_view token = visible_.token(i);
            if (token.size() != 1 || static_cast<unsigned char>(token[0]) != i || visible_.lines.ranks[i] != -1) return false;
        }
        learned_end_ = byte_count;
        while (learned_end_ < visible_.size() && visible_.lines.ranks[learned_end_] >= 0) ++learned_end_;
        for (std::size_t i = learned_end_; i < visible_.size(); ++i) {
            if (visible_.lines.ranks[i] >= 0) return false;
            result_.special_tokens.emplace_back(visible_.token(i));
        }
        return ranks_rise(visible_, byte_count, learned_end_) && ranks_rise(internal_, 0, internal_.size());
    }

    bool order_by_rank() {
        rank_of_id_.assign(visible_.size() + internal_.size(), no_rank);
        for (std::uint32_t byte = 0; byte < byte_count; ++byte) rank_of_id_[byte] = byte;
        id_of_rank_.assign(rank_of_id_.begin(), rank_of_id_.begin() + byte_count);
        result_.visible.assign(byte_count, 1);
        for (std::size_t i = byte_count, j = 0; i < learned_end_ || j < internal_.size();) {
            const std::int64_t rank = i < learned_end_ ? visible_.lines.ranks[i] : no_more;
            const std::int64_t other = j < internal_.size() ? internal_.lines.ranks[j] : no_more;
            if (rank == other) return false;
            const std::size_t id = rank < other ? i++ : internal_.first_id + j++;
            rank_of_id_[id] = static_cast<std::uint32_t>(id_of_rank_.size());
            id_of_rank_.push_back(static_cast<std::uint32_t>(id));
            result_.visible.push_back(rank < other);
        }
        return true;
    }

    /// Checks that parts come before their token and spell it.
    bool find_merges() {
        for (std::uint32_t rank = byte_count; rank < id_of_rank_.size(); ++rank) {
            const std::uint32_t id = id_of_rank_[rank];
            const File& file = file_of(id);
            // A negative id becomes too large.
            const auto left = static_cast<std::size_t>(file.lines.lefts[id - file.first_id]);
            const auto right = static_cast<std::size_t>(file.lines.rights[id - file.first_id]);
            if (left >= rank_of_id_.size() || right >= rank_of_id_.size()) return false;
            const std::uint32_t left_rank = rank_of_id_[left], right_rank = rank_of_id_[right];
            if (left_rank >= rank || right_rank >= rank) return false;  // a special token has no_rank
            const std::string_view token = token_of(id), first = token_of(left), second = token_of(right);
            if (token.size() != first.size() + second.size() || !token.starts_with(first) || !token.ends_with(second)) {
                return false;
            }
            result_.merges.push_back({Rank{left_rank}, Rank{right_rank}});
        }
        return true;
    }

    VocabularyFiles take_result() { return std::move(result_); }

private:
    static constexpr std::uint32_t no_rank = 0xFFFFFFFF;
    static constexpr std::int64_t no_more = std::int64_t{1} << 62;

    static bool ranks_rise(const File& file, std::size_t begin, std::size_t end) {
        std::int64_t last = byte_count - 1;
        for (std::size_t i = begin; i < end; ++i) {
            if (file.lines.ranks[i] <= last) return false;
            last = file.lines.ranks[i];
        }
        return true;
    }
    const File& file_of(std::size_t id) const { return id < internal_.first_id ? visible_ : internal_; }
    std::string_view token_of(std::size_t id) const { return file_of(id).token(id - file_of(id).first_id); }

    File visible_, internal_;
    std::size_t learned_end_ = 0;  ///< line after the last learned token of the visible file
    std::vector<std::uint32_t> rank_of_id_, id_of_rank_;
    VocabularyFiles result_;
};

}  // namespace

std::optional<VocabularyFiles> read_vocabulary(std::string_view visible_file, std::string_view internal_file) {
    auto visible = read_vocabulary_lines(visible_file, 0);
    if (!visible) return std::nullopt;
    const std::size_t vocab_size = visible->ranks.size();
    auto internal = read_vocabulary_lines(internal_file, static_cast<std::int64_t>(vocab_size));
    if (!internal) return std::nullopt;
    Reader reader({std::move(*visible), 0}, {std::move(*internal), vocab_size});
    if (!reader.find_parts_of_files() || !reader.order_by_rank() || !reader.find_merges()) return std::nullopt;
    return reader.take_result();
}

WrittenVocabulary write_vocabulary(std::span<const Merge> merges, std::span<const bool> visible,
                                   std::span<const std::string_view> special_tokens, IsPrintable is_printable) {
    if (visible.size() != byte_count + merges.size()) {
        throw std::invalid_argument("visibility must be given for every rank");
    }
    if (find_late_part(merges)) throw std::invalid_argument("a part is not made before its token");
    const TokenStrings strings = spell(merges);
    const std::vector<std::uint32_t> ids = assign_token_ids(visible, special_tokens.size());
    WrittenVocabulary files;
    files.visible_file.reserve(visible.size() * 40 + strings.bytes.size());
    // Ids follow ranks in either file, so one pass writes both in order.
    for (std::uint32_t rank = 0; rank < visible.size(); ++rank) {
        VocabularyLine line{ids[rank], -1, -1, strings[rank], -1};
        if (rank >= byte_count) {
            const Merge& merge = merges[rank - byte_count];
            line.left = ids[raw(merge.left)];
            line.right = ids[raw(merge.right)];
            line.rank = rank;
        }
        append_vocabulary_line(visible[rank] ? files.visible_file : files.internal_file, line, is_printable);
    }
    std::int64_t id = std::count(visible.begin(), visible.end(), true);
    for (const std::string_view token : special_tokens) {
        append_vocabulary_line(files.visible_file, {id++, -1, -1, token, -1}, is_printable);
    }
    return files;
}

}  // namespace prunedbpe
