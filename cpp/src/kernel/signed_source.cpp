#include "hedgerow/kernel/source.hpp"

namespace hedgerow {

SignedSource::SignedSource(std::shared_ptr<const KernelSource> plain, std::vector<float> signs)
    : plain_(std::move(plain)), signs_(std::move(signs)) {}

void SignedSource::for_pieces(std::span<const std::int64_t> rows,
                              std::span<const std::int64_t> columns,
                              const std::function<void(const KernelPiece&)>& use) const {
  std::vector<float> turned;
  plain_->for_pieces(rows, columns, [&](const KernelPiece& piece) {
    turned.resize(static_cast<std::size_t>(piece.n_rows * piece.n_columns));
    for (std::int64_t r = 0; r < piece.n_rows; ++r) {
      const float sign = signs_[rows[piece.row + r]];
      const float* values = piece.values + r * piece.ld;
      float* line = turned.data() + r * piece.n_columns;
      for (std::int64_t c = 0; c < piece.n_columns; ++c)
        line[c] = sign * signs_[columns[piece.column + c]] * values[c];
    }
    use({piece.row, piece.n_rows, piece.column, piece.n_columns, turned.data(), piece.n_columns});
  });
}

}  // namespace hedgerow
