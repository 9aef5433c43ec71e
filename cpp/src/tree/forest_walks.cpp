// Rows on their way down many trees: predictions, and leaves.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "hedgerow/system/parallel.hpp"
#include "hedgerow/tree/forest.hpp"
#include "tree/packed_nodes.hpp"

namespace hedgerow {
namespace {

/// Bytes of the rows of one task, which are to stay near while tree after tree is walked down; but rows
/// enough for the nodes of a tree to be worth their way to near memory.
constexpr std::int64_t kBytesAtATime = 1 << 20;
constexpr std::int64_t kMostRowsAtATime = 16384;
constexpr std::int64_t kFewestRowsAtATime = 256;

/// Rows that walk down a tree side by side: while one waits for its node, the others go on. Fewer where a
/// step takes more registers.
constexpr std::int64_t kMostSideBySide = 16;
constexpr std::int64_t kFewSideBySide = 8;

/// Steps after which those rows are left out that have arrived.
constexpr int kStepsOfARound = 4;

/// How rows are cut into tasks; what a task computes does not depend on it.
template <class T>
Cut tasks_of(const DenseRows<T>& rows, int n_threads) {
  const std::int64_t row_bytes = static_cast<std::int64_t>(sizeof(T)) * rows.n_cols;
  const std::int64_t most_at_a_time = std::clamp(
      kBytesAtATime / std::max<std::int64_t>(1, row_bytes), kFewestRowsAtATime, kMostRowsAtATime);
  const std::int64_t wanted = n_threads == 1 ? 1 : 2 * n_threads;
  const std::int64_t most = std::max<std::int64_t>(1, rows.n_rows / kFewestRowsAtATime);
  const std::int64_t fewest = (rows.n_rows + most_at_a_time - 1) / most_at_a_time;
  const std::int64_t turns = (fewest + n_threads - 1) / n_threads;
  return {rows.n_rows, fewest == 1 ? std::min(wanted, most) : std::max(wanted, turns * n_threads)};
}

template <class T>
DenseRows<T> some_of(const DenseRows<T>& rows, std::int64_t begin, std::int64_t end) {
  return {rows.values + begin * rows.row_stride, end - begin, rows.n_cols, rows.row_stride};
}

template <class T>
bool has_missing(const DenseRows<T>& rows) {
  bool is_missing = false;
  for (std::int64_t i = 0; i < rows.n_rows; ++i) {
    const T* row = rows.values + i * rows.row_stride;
    for (std::int64_t j = 0; j < rows.n_cols; ++j) is_missing |= row[j] != row[j];
  }
  return is_missing;
}

/// Rows whose categories are bits, to be looked up in sets, and no numbers any more. What is no category
/// of its feature becomes `missing`.
template <class T>
std::vector<double> with_bits(const DenseRows<T>& rows, const ForestShape& shape,
                              std::span<const std::uint32_t> by_categories, double missing) {
  std::vector<double> own(static_cast<std::size_t>(rows.n_rows * rows.n_cols));
  for (std::int64_t i = 0; i < rows.n_rows; ++i) {
    const T* row = rows.values + i * rows.row_stride;
    double* to = own.data() + i * rows.n_cols;
    std::copy_n(row, rows.n_cols, to);
    for (const std::uint32_t j : by_categories) {
      const bool is_known = row[j] >= 0 && row[j] < static_cast<T>(shape.n_categories[j]);
      to[j] = is_known ? std::bit_cast<double>(static_cast<std::uint64_t>(row[j])) : missing;
    }
  }
  return own;
}

}  // namespace

/// Where a row goes from a node. No branch depends on the row: where it goes cannot be foreseen, and a
/// wrong guess costs more than all of this.
template <Forest::Way way, class Node, class T>
std::int32_t Forest::step(const Node& node, const T* row) const {
  const T value = row[node.asks & kFeatureBits];
  std::uint32_t left = value <= node.threshold;
  if constexpr (way.sets != Sets::none) {
    const std::uint32_t by_categories = (node.asks >> 30) & 1;
    const auto category = std::bit_cast<std::uint64_t>(value);
    auto word = std::bit_cast<std::uint64_t>(node.threshold);
    if constexpr (way.sets == Sets::in_words) {
      // Where there is nothing to ask for, the first word is looked at, and not used.
      const std::uint64_t asks = by_categories & (value == value);
      word = words_[(word + category / 64) & (0 - asks)];
    }
    const auto in_set = static_cast<std::uint32_t>(word >> (category % 64));
    left = (left & ~by_categories) | (in_set & by_categories);
  }
  if constexpr (way.has_missing) {
    const std::uint32_t is_missing = value != value;
    left = (left & ~is_missing) | ((node.asks >> 31) & is_missing);
  }
  return node.next + static_cast<std::int32_t>((left & 1) ^ 1);
}

namespace {

/// A tree with more nodes for each row than this is not worth fetching whole.
constexpr std::int64_t kNodesOfARow = 32;

/// Asks for all nodes before rows leap from one to another: memory is fast in turn.
template <class Node>
void fetch(std::span<const Node> nodes) {
  for (std::size_t i = 0; i < nodes.size(); i += 64 / sizeof(Node)) __builtin_prefetch(&nodes[i]);
}

}  // namespace

/// The leaves of rows in a tree. Rows go some steps side by side, and then those that have not arrived go
/// on: paths differ in length, and no row is to wait for the longest of its neighbours'.
template <Forest::Way way, class Node, class T>
void Forest::walk(std::span<const Node> nodes, const DenseRows<T>& rows,
                  std::int32_t* leaves) const {
  if (rows.n_rows == 1) {
    std::int32_t at = 0;
    for (std::int32_t next = step<way>(nodes[0], rows.values); next != at;
         next = step<way>(nodes[static_cast<std::size_t>(at)], rows.values))
      at = next;
    *leaves = at;
    return;
  }
  constexpr std::int64_t side_by_side = way.sets == Sets::none ? kMostSideBySide : kFewSideBySide;
  std::uint32_t going[kMostRowsAtATime + kMostSideBySide];
  std::int64_t n_going = rows.n_rows;
  std::iota(going, going + n_going, 0u);
  std::fill_n(leaves, n_going, 0);
  // About what a row needs in a tree of so many nodes that is as shallow as can be.
  int n_steps = std::bit_width(nodes.size());
  while (n_going > 0) {
    std::fill_n(going + n_going, side_by_side, going[n_going - 1]);
    std::int64_t n_left = 0;
    for (std::int64_t first = 0; first < n_going; first += side_by_side) {
      const T* row[side_by_side];
      std::int32_t at[side_by_side];
      for (std::int64_t k = 0; k < side_by_side; ++k) {
        row[k] = rows.values + going[first + k] * rows.row_stride;
        at[k] = leaves[going[first + k]];
      }
      for (int s = 0; s < n_steps; ++s)
        for (std::int64_t k = 0; k < side_by_side; ++k)
          at[k] = step<way>(nodes[static_cast<std::size_t>(at[k])], row[k]);
      const std::int64_t n_here = std::min(side_by_side, n_going - first);
      for (std::int64_t k = 0; k < n_here; ++k) {
        const std::uint32_t i = going[first + k];
        leaves[i] = at[k];
        going[n_left] = i;
        n_left += nodes[static_cast<std::size_t>(at[k])].next != at[k];
      }
    }
    n_going = n_left;
    n_steps = kStepsOfARound;
  }
}

/// Calls take(tree, leaves of the rows) for trees [first, last).
template <Forest::Way way, class Node, class T, class Take>
void Forest::walk_all(const std::vector<Node>& nodes, const DenseRows<T>& rows, std::int64_t first,
                      std::int64_t last, const Take& take) const {
  std::int32_t leaves[kMostRowsAtATime];
  for (auto t = static_cast<std::size_t>(first); t < static_cast<std::size_t>(last); ++t) {
    const std::span<const Node> tree(nodes.begin() + begins_[t], nodes.begin() + begins_[t + 1]);
    if (kNodesOfARow * rows.n_rows > std::ssize(tree)) fetch(tree);
    walk<way>(tree, rows, leaves);
    take(t, leaves);
  }
}

/// The same, in the way that is shortest for these rows.
template <class T, class Take>
void Forest::walk_trees(const DenseRows<T>& rows, std::int64_t first, std::int64_t last,
                        const Take& take) const {
  if (sets_ == Sets::none || (sets_ == Sets::in_words && words_.empty()))
    return std::visit(
        [&](const auto& nodes) {
          if (has_missing(rows))
            walk_all<Way{Sets::none, true}>(nodes, rows, first, last, take);
          else
            walk_all<Way{Sets::none, false}>(nodes, rows, first, last, take);
        },
        nodes_);
  const double missing = sets_ == Sets::in_nodes ? std::bit_cast<double>(std::uint64_t{kMissingBit})
                                                 : std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> own = with_bits(rows, shape_, by_categories_, missing);
  const DenseRows<double> bits{own.data(), rows.n_rows, rows.n_cols, rows.n_cols};
  const auto& nodes = std::get<Nodes<double>>(nodes_);
  if (sets_ == Sets::in_words)
    walk_all<Way{Sets::in_words, true}>(nodes, bits, first, last, take);
  else if (has_missing(bits))
    walk_all<Way{Sets::in_nodes, true}>(nodes, bits, first, last, take);
  else
    walk_all<Way{Sets::in_nodes, false}>(nodes, bits, first, last, take);
}

template <class T>
void Forest::sums(const DenseRows<T>& rows, std::int64_t begin, std::int64_t end,
                  std::span<const double> weights, std::span<double> sums, int n_threads) const {
  const auto width = static_cast<std::size_t>(line_width());
  const Cut tasks = tasks_of(rows, n_threads);
  const auto run = [&](std::int64_t task) {
    const std::int64_t first = tasks.begin(task), last = tasks.end(task);
    const auto take = [&](std::size_t t, const std::int32_t* leaves) {
      const std::int32_t* answers = &answers_[static_cast<std::size_t>(begins_[t])];
      const double weight = weights.empty() ? 1.0 : weights[t - static_cast<std::size_t>(begin)];
      for (std::int64_t i = first; i < last; ++i) {
        double* sum = &sums[static_cast<std::size_t>(i) * width];
        const std::int32_t answer = answers[leaves[i - first]];
        if (answer >= 0) {
          sum[answer] += weight;
          continue;
        }
        const double* line = &lines_[static_cast<std::size_t>(-1 - answer) * width];
        for (std::size_t k = 0; k < width; ++k) sum[k] += weight * line[k];
      }
    };
    walk_trees(some_of(rows, first, last), begin, end, take);
  };
  if (tasks.n_pieces == 1) return run(0);
  parallel_for(tasks.n_pieces, n_threads, run);
}

template <class T>
void Forest::leaves(const DenseRows<T>& rows, std::span<std::int32_t> leaves, int n_threads) const {
  const Cut tasks = tasks_of(rows, n_threads);
  parallel_for(tasks.n_pieces, n_threads, [&](std::int64_t task) {
    const std::int64_t first = tasks.begin(task), last = tasks.end(task);
    const auto take = [&](std::size_t t, const std::int32_t* found) {
      for (std::int64_t i = first; i < last; ++i)
        leaves[static_cast<std::size_t>(i * n_trees()) + t] = found[i - first];
    };
    walk_trees(some_of(rows, first, last), 0, n_trees(), take);
  });
}

template void Forest::sums(const DenseRows<float>&, std::int64_t, std::int64_t,
                           std::span<const double>, std::span<double>, int) const;
template void Forest::sums(const DenseRows<double>&, std::int64_t, std::int64_t,
                           std::span<const double>, std::span<double>, int) const;
template void Forest::leaves(const DenseRows<float>&, std::span<std::int32_t>, int) const;
template void Forest::leaves(const DenseRows<double>&, std::span<std::int32_t>, int) const;

}  // namespace hedgerow
