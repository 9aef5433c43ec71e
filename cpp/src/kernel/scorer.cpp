#include "hedgerow/kernel/scorer.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "hedgerow/system/parallel.hpp"
#include "hedgerow/system/stop.hpp"
#include "kernel/parts.hpp"

namespace hedgerow {

template <class T>
struct PackedVectors {
  std::vector<T> strips;    ///< each feature after feature, all of them
  std::vector<T> sq_norms;  ///< zeros if no formula needs them
  std::vector<T> inverse_norms;
};

namespace {

constexpr std::int64_t kSpan = kKernelTile;

/// Rows that a task scores: whole strips of every instruction set.
constexpr std::int64_t kRowsPerTask = 120;

/// Fewer rows than this are multiplied one by one, which spares the rest of a strip.
constexpr std::int64_t kWorthAStrip = 4;

/// Where float32 products would lose what matters, differences in float32 are faster than products in
/// float64. With more features than this they may not be: products need only what a sparse row stores.
constexpr std::int64_t kMostDifferences = 16;

/// Strips of vectors that sparse rows meet at a time: of narrow tables they stay in the first-level cache.
constexpr std::int64_t kStripsInReach = 4;

/// Features folded at a time: strips of both sides stay in the second-level cache.
constexpr std::int64_t kDepth = 256;

/// The sum of squares, in an order that does not depend on which zeros are stored.
template <class T>
double sq_norm(const DenseRows<T>& rows, std::int64_t i) {
  const T* x = rows.values + i * rows.row_stride;
  double sums[8] = {};
  const std::int64_t n_whole = rows.n_cols / 8 * 8;
  for (std::int64_t k = 0; k < n_whole; k += 8)
    for (int lane = 0; lane < 8; ++lane) {
      const double value = x[k + lane];
      sums[lane] += value * value;
    }
  for (std::int64_t k = n_whole; k < rows.n_cols; ++k)
    sums[k % 8] += static_cast<double>(x[k]) * static_cast<double>(x[k]);
  return std::accumulate(sums, sums + 8, 0.0);
}

template <class T, class I>
double sq_norm(const SparseRows<T, I>& rows, std::int64_t i) {
  double sums[8] = {};
  for (I p = rows.indptr[i]; p < rows.indptr[i + 1]; ++p) {
    const double value = rows.values[p];
    sums[rows.indices[p] % 8] += value * value;
  }
  return std::accumulate(sums, sums + 8, 0.0);
}

bool is_rbf(const Kernel& kernel) {
  return kernel.size() == 1 && kernel[0].shape.kind == KernelKind::rbf;
}

bool is_single(const Matrix& matrix) {
  return std::visit(
      []<class Rows>(const Rows&) { return std::is_same_v<typename Rows::Value, float>; }, matrix);
}

std::int64_t n_tiles(const Matrix& vectors) { return (n_rows(vectors) + kSpan - 1) / kSpan; }

template <class T, class Rows>
void pack(const Rows& rows, std::int64_t begin, std::int64_t end, std::int64_t width, T* out) {
  std::int64_t selected[kSpan];
  std::iota(selected, selected + (end - begin), begin);
  const PanelLoops<Rows, T>& panel = hot();
  panel.pack_strips(rows, selected, end - begin, 0, rows.n_cols, width, out);
}

/// What formulas need of each of n vectors, with zeros up to the end of a tile or if they need nothing.
template <class T>
std::vector<T> extras_of(KernelKind kind, const std::vector<double>& sq_norms, std::int64_t n) {
  std::vector<T> extras(static_cast<std::size_t>(whole(n, kSpan)));
  std::transform(sq_norms.begin(), sq_norms.end(), extras.begin(),
                 [=](double sq_norm) { return static_cast<T>(extra_of(kind, sq_norm)); });
  return extras;
}

template <class T>
std::unique_ptr<PackedVectors<T>> pack_vectors(const Matrix& vectors,
                                               const std::vector<double>& sq_norms, int n_threads) {
  auto packed = std::make_unique<PackedVectors<T>>();
  const std::int64_t d = n_cols(vectors), width = kernel_loops<T>().strip_cols;
  const std::int64_t n = n_rows(vectors);
  packed->strips.resize(static_cast<std::size_t>(whole(n, width) * d));
  packed->sq_norms = extras_of<T>(KernelKind::rbf, sq_norms, n);
  packed->inverse_norms = extras_of<T>(KernelKind::cosine, sq_norms, n);
  std::visit(
      [&](const auto& rows) {
        parallel_for(n_tiles(vectors), n_threads, [&](std::int64_t tile) {
          const std::int64_t begin = tile * kSpan;
          pack(rows, begin, std::min(begin + kSpan, n), width, packed->strips.data() + begin * d);
        });
      },
      vectors);
  return packed;
}

/// What a task keeps of its rows.
template <class T>
struct Bench {
  std::vector<T> packed, sq_norms, inverse_norms;
};

/// Some rows made ready to meet tiles of vectors; one at a time in a thread.
template <class T, class Rows>
class RowBlock {
 public:
  RowBlock(const Rows& rows, std::int64_t begin, std::int64_t end, const Kernel& kernel)
      : rows_(rows), begin_(begin), n_(end - begin), bench_(bench()) {
    make_room(bench_.sq_norms, kRowsPerTask);
    make_room(bench_.inverse_norms, kRowsPerTask);
    if (wants_norms(kernel)) write_norms();
    const bool uses_all_features = !kIsSparse || !fits_entries(kernel);
    if (!uses_all_features) return;
    width_ = n_ < kWorthAStrip ? 1 : kernel_loops<T>().strip_rows;
    make_room(bench_.packed, whole(n_, width_) * rows.n_cols);
    pack(rows, begin, end, width_, bench_.packed.data());
  }

  /// The sums over the features for a tile of vectors: row r begins at out + r * kSpan.
  void fold(const KernelShape& shape, const T* strips, std::int64_t n_columns, T* out) const {
    PackedTile<T> tile{bench_.packed.data(), strips,      whole(n_, width_), n_columns,
                       rows_.n_cols,         rows_.n_cols};
    if constexpr (kIsSparse)
      if (uses_products(shape.kind)) return multiply_entries(tile, out);
    if (const T empty = empty_fold<T>(shape.kind); empty != T{0})
      std::fill_n(out, tile.n_rows * kSpan, empty);
    else
      std::memset(out, 0, static_cast<std::size_t>(tile.n_rows * kSpan) * sizeof(T));
    if (width_ == 1) {
      for (std::int64_t r = 0; r < n_; ++r)
        kernel_loops<T>().fold_row(shape, tile.rows + r * rows_.n_cols, tile, out + r * kSpan);
      return;
    }
    const std::int64_t strip_rows = kernel_loops<T>().strip_rows;
    const std::int64_t strip_cols = kernel_loops<T>().strip_cols;
    for (std::int64_t left = rows_.n_cols; left > 0; left -= kDepth) {
      tile.depth = std::min(left, kDepth);
      kernel_loops<T>().fold_features(shape, tile, out, kSpan);
      tile.rows += kDepth * strip_rows;
      tile.cols += kDepth * strip_cols;
    }
  }

  /// The tile of sums with what the formula needs beside.
  KernelTile<T> with_extras(const KernelShape& shape, const PackedVectors<T>& vectors,
                            std::int64_t first, std::int64_t n_columns, T* sums) const {
    const bool is_cosine = shape.kind == KernelKind::cosine;
    const std::vector<T>& of_vectors = is_cosine ? vectors.inverse_norms : vectors.sq_norms;
    const std::vector<T>& of_rows = is_cosine ? bench_.inverse_norms : bench_.sq_norms;
    return {sums, kSpan, n_, n_columns, of_rows.data(), of_vectors.data() + first};
  }

 private:
  static constexpr bool kIsSparse = requires(const Rows& rows) { rows.indptr; };

  static Bench<T>& bench() {
    static thread_local Bench<T> here;
    return here;
  }

  static bool fits_entries(const Kernel& kernel) {
    return std::all_of(kernel.begin(), kernel.end(), [](const KernelStep& step) {
      return step.does != KernelStep::Does::push || uses_products(step.shape.kind);
    });
  }

  void write_norms() {
    for (std::int64_t r = 0; r < n_; ++r) {
      const double norm = sq_norm(rows_, begin_ + r);
      bench_.sq_norms[r] = static_cast<T>(norm);
      bench_.inverse_norms[r] = static_cast<T>(extra_of(KernelKind::cosine, norm));
    }
  }

  void multiply_entries(const PackedTile<T>& tile, T* out) const {
    const ScatteredLoops<Rows, T>& of_rows = hot();
    const std::int64_t width = kStripsInReach * kernel_loops<T>().strip_cols;
    for (std::int64_t c = 0; c < tile.n_cols; c += width) {
      PackedTile<T> some = tile;
      some.cols += c * tile.stride;
      some.n_cols = std::min(width, tile.n_cols - c);
      for (std::int64_t r = 0; r < n_; ++r)
        of_rows.packed_products(rows_, begin_ + r, some, out + r * kSpan + c);
    }
  }

  const Rows& rows_;
  std::int64_t begin_, n_;
  Bench<T>& bench_;
  std::int64_t width_ = 1;
};

/// Whether sums are taken in float64 and values made in float32.
template <class T, class Value>
constexpr bool kIsRounded = !std::is_same_v<T, Value>;

/// The kernel values of a block of rows with a tile of vectors; only an RBF kernel by itself is rounded.
template <class T, class Value, class Rows>
const Value* values_of(const Kernel& kernel, const RowBlock<T, Rows>& block,
                       const PackedVectors<T>& vectors, std::int64_t n_rows, std::int64_t first,
                       std::int64_t n_columns, std::int64_t n_features) {
  const T* strips = vectors.strips.data() + first * n_features;
  if constexpr (kIsRounded<T, Value>) {
    const KernelShape& shape = kernel[0].shape;
    block.fold(shape, strips, n_columns, tile_at<T>(0));
    hot().finish_rbf_rounded(shape.gamma,
                             block.with_extras(shape, vectors, first, n_columns, tile_at<T>(0)),
                             tile_at<Value>(0), kSpan);
    return tile_at<Value>(0);
  } else {
    return run_program<T>(kernel, n_rows, [&](const KernelShape& shape, T* out) {
      block.fold(shape, strips, n_columns, out);
      kernel_loops<T>().finish_tile(shape,
                                    block.with_extras(shape, vectors, first, n_columns, out));
    });
  }
}

}  // namespace

KernelScorer::KernelScorer(Kernel kernel, const Matrix& vectors, const Coefficients& coef)
    : kernel_(std::move(kernel)),
      vectors_(vectors),
      n_lines_(coef.n_lines),
      n_hyperplanes_(coef.n_hyperplanes),
      hyperplanes_(coef.hyperplanes.begin(), coef.hyperplanes.end()) {
  if (wants_norms(kernel_)) {
    sq_norms_.resize(static_cast<std::size_t>(n_rows(vectors_)));
    std::visit(
        [&](const auto& rows) {
          for (std::int64_t i = 0; i < rows.n_rows; ++i) sq_norms_[i] = sq_norm(rows, i);
        },
        vectors_);
  }
  // A row that is farther out than all vectors has values that are near 0, however they are rounded.
  const auto largest = std::max_element(sq_norms_.begin(), sq_norms_.end());
  const double largest_sq_norm = largest == sq_norms_.end() ? 0.0 : *largest;
  kernel_ = without_cancellation(std::move(kernel_), largest_sq_norm, n_features());
  fits_float32_ = hedgerow::fits_float32(kernel_, largest_sq_norm);
  kernel_of_float32_ = kernel_;
  if (!fits_float32_ && is_rbf(kernel_) && is_single(vectors_) &&
      n_features() <= kMostDifferences) {
    kernel_of_float32_[0].shape.kind = KernelKind::rbf_of_differences;
    fits_float32_ = true;
  }
  lay_out(coef);
}

KernelScorer::~KernelScorer() = default;

/// Cuts the segments where tiles end, and puts the coefficients of each piece together.
void KernelScorer::lay_out(const Coefficients& coef) {
  const std::int64_t n_vectors = n_rows(vectors_);
  std::int64_t first = 0;
  for (std::size_t s = 0; s < coef.segments.size(); first += coef.segments[s++]) {
    const std::int64_t last = first + coef.segments[s];
    for (std::int64_t begin = first, end; begin < last; begin = end) {
      end = std::min((begin / kSpan + 1) * kSpan, last);
      const std::int64_t from = begin / kWeighedCols * kWeighedCols,
                         n = whole(end - from, kWeighedCols);
      pieces_.push_back(
          {begin / kSpan, from % kSpan, n, static_cast<std::int64_t>(s), coef_.size()});
      for (std::int64_t line = 0; line < n_lines_; ++line)
        for (std::int64_t i = from; i < from + n; ++i) {
          const bool is_mine = i >= begin && i < end;
          coef_.push_back(is_mine ? coef.values[line * n_vectors + i] : 0.0);
        }
    }
  }
}

template <class T>
const PackedVectors<T>& KernelScorer::packed(int n_threads) const {
  auto& mine = [&]() -> auto& {
    if constexpr (std::is_same_v<T, float>)
      return narrow_;
    else
      return wide_;
  }();
  std::call_once(is_packed_[std::is_same_v<T, double>],
                 [&] { mine = pack_vectors<T>(vectors_, sq_norms_, n_threads); });
  return *mine;
}

template <class T, class Value, class Rows>
void KernelScorer::score_block(const PackedVectors<T>& vectors, const Rows& rows,
                               std::int64_t begin, std::int64_t end, double* out) const {
  const Kernel& kernel = std::is_same_v<T, float> ? kernel_of_float32_ : kernel_;
  const RowBlock<T, Rows> block(rows, begin, end, kernel);
  const std::int64_t n_vectors = n_rows(vectors_), width = kernel_loops<T>().strip_cols;
  std::fill_n(out, (end - begin) * n_hyperplanes_, 0.0);
  auto piece = pieces_.begin();
  for (std::int64_t first = 0; first < n_vectors; first += kSpan) {
    check_stop();
    const std::int64_t n_columns = whole(std::min(kSpan, n_vectors - first), width);
    const Value* values =
        values_of<T, Value>(kernel, block, vectors, end - begin, first, n_columns, rows.n_cols);
    for (; piece != pieces_.end() && piece->tile == first / kSpan; ++piece)
      kernel_loops<Value>().weigh_tile(
          {values + piece->begin, kSpan, end - begin, piece->n, coef_.data() + piece->coef,
           n_lines_, hyperplanes_.data() + piece->segment * n_lines_, out, n_hyperplanes_});
  }
}

void KernelScorer::scores(const Matrix& rows, std::span<double> out, int n_threads) const {
  std::visit(
      [&]<class Rows>(const Rows& some) {
        const auto run = [&]<class T, class Value>(T, Value) {
          const PackedVectors<T>& vectors = packed<T>(n_threads);
          const std::int64_t n = some.n_rows, n_tasks = (n + kRowsPerTask - 1) / kRowsPerTask;
          parallel_for(n_tasks, n_threads, [&](std::int64_t task) {
            const std::int64_t begin = task * kRowsPerTask;
            score_block<T, Value>(vectors, some, begin, std::min(begin + kRowsPerTask, n),
                                  out.data() + begin * n_hyperplanes_);
          });
        };
        if constexpr (std::is_same_v<typename Rows::Value, float>) {
          if (fits_float32_) return run(float{}, float{});
          if (is_rbf(kernel_)) return run(double{}, float{});
        }
        run(double{}, double{});
      },
      rows);
}

}  // namespace hedgerow
