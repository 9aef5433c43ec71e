#include <cmath>

#include "hedgerow/kernel/source.hpp"

namespace hedgerow {

struct PairSource::Stretch {
  std::int64_t begin;  ///< among the points asked for
  std::span<const std::int64_t> points;
  int side;  ///< the class: 0 or 1
};

PairSource::PairSource(std::shared_ptr<const KernelSource> all, std::span<const float> within_first,
                       std::span<const float> within_second)
    : all_(std::move(all)),
      n_first_(std::llround(std::sqrt(static_cast<double>(within_first.size())))),
      within_{within_first, within_second} {}

std::vector<PairSource::Stretch> PairSource::stretches(std::span<const std::int64_t> points) const {
  std::vector<Stretch> found;
  std::size_t begin = 0;
  for (std::size_t end = 1; end <= points.size(); ++end) {
    const bool is_second = points[begin] >= n_first_;
    if (end < points.size() && (points[end] >= n_first_) == is_second) continue;
    found.push_back(
        {static_cast<std::int64_t>(begin), points.subspan(begin, end - begin), is_second ? 1 : 0});
    begin = end;
  }
  return found;
}

void PairSource::pass_on_within(const Stretch& rows, const Stretch& columns,
                                const std::function<void(const KernelPiece&)>& use) const {
  const std::int64_t first = rows.side == 0 ? 0 : n_first_;
  const std::int64_t order = rows.side == 0 ? n_first_ : n_points() - n_first_;
  const auto n = static_cast<std::int64_t>(columns.points.size());
  std::vector<float> gathered(columns.points.size());
  for (std::size_t r = 0; r < rows.points.size(); ++r) {
    const float* line = within_[rows.side].data() + (rows.points[r] - first) * order;
    for (std::int64_t c = 0; c < n; ++c) gathered[c] = line[columns.points[c] - first];
    use({rows.begin + static_cast<std::int64_t>(r), 1, columns.begin, n, gathered.data(), n});
  }
}

void PairSource::for_pieces(std::span<const std::int64_t> rows,
                            std::span<const std::int64_t> columns,
                            const std::function<void(const KernelPiece&)>& use) const {
  const std::vector<Stretch> across = stretches(columns);
  for (const Stretch& some_rows : stretches(rows))
    for (const Stretch& some : across) {
      if (some.side == some_rows.side) {
        pass_on_within(some_rows, some, use);
        continue;
      }
      all_->for_pieces(some_rows.points, some.points, [&](const KernelPiece& piece) {
        use({some_rows.begin + piece.row, piece.n_rows, some.begin + piece.column, piece.n_columns,
             piece.values, piece.ld});
      });
    }
}

}  // namespace hedgerow
