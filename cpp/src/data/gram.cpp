#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "hedgerow/data/algebra.hpp"
#include "hedgerow/system/parallel.hpp"
#include "hedgerow/system/stop.hpp"
#include "data/tiles.hpp"

namespace hedgerow {
namespace {

// The selected rows are cut into blocks, each summed into a partial matrix of its own, and, for
// dense rows, the lower triangle into stripes of rows; a task is one stripe of one block.
struct GramPlan {
  std::vector<std::int64_t> selected;  ///< rows with v_i > 0, then rows with v_i < 0
  std::int64_t n_positive;
  std::int64_t order;  ///< of the result
  Cut blocks;          ///< of `selected`
  Cut stripes;         ///< of the rows of tiles of the result
};

constexpr std::int64_t kMostBlocks = 8;

/// Few blocks leave cores idle unless each is cut into stripes.
template <class T>
std::int64_t most_stripes(const DenseRows<T>&, std::int64_t n_blocks) {
  return 2 * kMostBlocks / n_blocks;
}

template <class T, class I>
std::int64_t most_stripes(const SparseRows<T, I>&, std::int64_t) {
  return 1;
}

template <class Rows>
GramPlan plan_gram(const Rows& rows, std::span<const double> v, std::int64_t order) {
  constexpr std::int64_t kMostValues = (std::int64_t{128} << 20) / sizeof(double);
  GramPlan plan{{}, 0, order, {}, {}};
  for (std::size_t i = 0; i < v.size(); ++i)
    if (v[i] != 0.0) plan.selected.push_back(static_cast<std::int64_t>(i));
  const auto negative = std::stable_partition(plan.selected.begin(), plan.selected.end(),
                                              [&](std::int64_t i) { return !(v[i] < 0.0); });
  plan.n_positive = negative - plan.selected.begin();
  const auto n = static_cast<std::int64_t>(plan.selected.size());
  const std::int64_t affordable = kMostValues / std::max<std::int64_t>(order * order, 1);
  const std::int64_t rows_worth_a_block = std::max<std::int64_t>(512, 2 * order);
  const std::int64_t n_blocks =
      std::clamp<std::int64_t>(std::min(n / rows_worth_a_block, affordable), 1, kMostBlocks);
  plan.blocks = {n, n_blocks};
  plan.stripes = {n_tiles(order), std::min(n_tiles(order), most_stripes(rows, n_blocks))};
  return plan;
}

/// Rows of a dense matrix packed for the product: transposed, and times the root of |v|, so that
/// one copy serves on both sides.
class PackedRows {
 public:
  explicit PackedRows(std::int64_t order)
      : order_(order), values_(new double[order * kPackedStride]) {}

  /// Packs z_i for the selected rows i, at most kTileDepth of them.
  template <class T>
  void pack(const DenseRows<T>& rows, std::span<const std::int64_t> selected,
            std::span<const double> v, double constant) {
    const DenseLoops<T>& loops = hot();
    depth_ = static_cast<std::int64_t>(selected.size());
    double scale[kTileDepth];
    for (std::int64_t r = 0; r < depth_; ++r) scale[r] = std::sqrt(std::abs(v[selected[r]]));
    loops.pack_transposed(rows, selected.data(), depth_, scale, values_.get(), kPackedStride);
    for (std::int64_t j = rows.n_cols; j < order_; ++j)
      for (std::int64_t r = 0; r < depth_; ++r)
        values_[j * kPackedStride + r] = constant * scale[r];
  }

  /// Adds sign times the product to the rows [begin, end) of the lower triangle of out; begin is
  /// the first row of a tile, end follows the last of one or of out.
  void add_product(double sign, std::int64_t begin, std::int64_t end, double* out,
                   std::int64_t ld) const {
    for (std::int64_t i = begin; i < end; i += kTileOrder) {
      const double* left = values_.get() + i * kPackedStride;
      const std::int64_t height = std::min(kTileOrder, end - i);
      for (std::int64_t j = 0; j < i; j += kTileOrder)
        hot().gemm_nt(height, kTileOrder, depth_, sign, left, kPackedStride,
                      values_.get() + j * kPackedStride, kPackedStride, out + i * ld + j, ld);
      hot().gemm_nt_lower(height, depth_, sign, left, kPackedStride, left, kPackedStride,
                          out + i * ld + i, ld);
    }
  }

 private:
  std::int64_t order_;
  std::unique_ptr<double[]> values_;
  std::int64_t depth_ = 0;
};

template <class T>
void add_block(const DenseRows<T>& rows, const GramPlan& plan, std::int64_t block,
               std::int64_t stripe, std::span<const double> v, double constant, double* out) {
  const std::int64_t begin = plan.stripes.begin(stripe) * kTileOrder;
  const std::int64_t end = std::min(plan.stripes.end(stripe) * kTileOrder, plan.order);
  // Nothing to the right of a stripe's diagonal is needed for it.
  const DenseRows<T> used{rows.values, rows.n_rows, std::min(end, rows.n_cols), rows.row_stride};
  PackedRows packed(end);
  const auto add_run = [&](std::int64_t first, std::int64_t last, double sign) {
    for (std::int64_t s = first; s < last; s += kTileDepth) {
      check_stop();
      const std::int64_t depth = std::min(kTileDepth, last - s);
      packed.pack(used, std::span(plan.selected).subspan(s, depth), v, constant);
      packed.add_product(sign, begin, end, out, plan.order);
    }
  };
  const std::int64_t first = plan.blocks.begin(block), last = plan.blocks.end(block);
  add_run(first, std::min(last, plan.n_positive), 1.0);
  add_run(std::max(first, plan.n_positive), last, -1.0);
}

template <class T, class I>
void add_block(const SparseRows<T, I>& rows, const GramPlan& plan, std::int64_t block, std::int64_t,
               std::span<const double> v, double constant, double* out) {
  const SparseLoops<T, I>& loops = hot();
  // A value is multiplied with every other value of its row.
  const std::int64_t stretch = rows_with(rows_with(kValuesBetweenChecks, rows), rows);
  const std::int64_t last = plan.blocks.end(block);
  for (std::int64_t s = plan.blocks.begin(block); s < last; s += stretch) {
    check_stop();
    loops.add_outer(rows, plan.selected.data() + s, std::min(stretch, last - s), v.data(), constant,
                    out, plan.order);
  }
}

/// out += the sum of the partial matrices, in order.
void add_partials(std::span<const std::vector<double>> partials, std::span<double> out,
                  int n_threads) {
  constexpr std::int64_t kRun = 1 << 14;
  const auto size = static_cast<std::int64_t>(out.size());
  const Cut runs{size, (size + kRun - 1) / kRun};
  parallel_for(runs.n_pieces, n_threads, [&](std::int64_t run) {
    for (const std::vector<double>& partial : partials)
      for (std::int64_t e = runs.begin(run); e < runs.end(run); ++e) out[e] += partial[e];
  });
}

/// Adds to out, in its lower triangle; out itself is the partial matrix of the first block.
template <class Rows>
void gram_lower(const Rows& rows, std::span<const double> v, double constant, std::int64_t order,
                std::span<double> out, int n_threads) {
  const GramPlan plan = plan_gram(rows, v, order);
  std::vector<std::vector<double>> partials;
  for (std::int64_t block = 1; block < plan.blocks.n_pieces; ++block)
    partials.emplace_back(out.size(), 0.0);
  const std::int64_t n_stripes = plan.stripes.n_pieces;
  parallel_for(plan.blocks.n_pieces * n_stripes, n_threads, [&](std::int64_t task) {
    // The longest stripes, the last ones, go first.
    const std::int64_t block = task / n_stripes, stripe = n_stripes - 1 - task % n_stripes;
    double* sum = block == 0 ? out.data() : partials[block - 1].data();
    add_block(rows, plan, block, stripe, v, constant, sum);
  });
  add_partials(partials, out, n_threads);
}

}  // namespace

void gram(const Matrix& matrix, std::span<const double> v, double constant, std::span<double> out,
          int n_threads) {
  const std::int64_t order = n_cols(matrix) + (constant != 0.0);
  std::fill(out.begin(), out.end(), 0.0);
  std::visit([&](const auto& rows) { gram_lower(rows, v, constant, order, out, n_threads); },
             matrix);
  mirror_lower(out.data(), order, n_threads);
}

}  // namespace hedgerow
