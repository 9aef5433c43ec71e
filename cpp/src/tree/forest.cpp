#include "hedgerow/tree/forest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "hedgerow/parallel.hpp"

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
  const std::int64_t most_at_a_time =
      std::clamp(kBytesAtATime / std::max<std::int64_t>(1, row_bytes), kFewestRowsAtATime,
                 kMostRowsAtATime);
  const std::int64_t wanted = n_threads == 1 ? 1 : 2 * n_threads;
  const std::int64_t most = std::max<std::int64_t>(1, rows.n_rows / kFewestRowsAtATime);
  const std::int64_t fewest = (rows.n_rows + most_at_a_time - 1) / most_at_a_time;
  const std::int64_t turns = (fewest + n_threads - 1) / n_threads;
  return {rows.n_rows, fewest == 1 ? std::min(wanted, most) : std::max(wanted, turns * n_threads)};
}

/// A threshold in the digits of a float that parts the same floats: rounded down.
float narrowed(double threshold) {
  const auto near = static_cast<float>(threshold);
  return static_cast<double>(near) > threshold
             ? std::nextafter(near, -std::numeric_limits<float>::infinity())
             : near;
}

/// The bit of a set in a node that stands for what is missing.
constexpr int kMissingBit = 63;
constexpr std::uint64_t kMissingIsIn = std::uint64_t{1} << kMissingBit;

void require(bool is_fine, const char* what) {
  if (!is_fine) throw std::invalid_argument(what);
}

double set_in_node(std::uint64_t categories, bool missing_left) {
  const std::uint64_t known = categories & ~kMissingIsIn;
  return std::bit_cast<double>(missing_left ? known | kMissingIsIn : known);
}

}  // namespace

Forest::Forest(ForestShape shape, bool single_precision)
    : shape_(std::move(shape)), is_single_(single_precision) {
  for (std::uint32_t j = 0; j < shape_.n_categories.size(); ++j)
    if (shape_.n_categories[j] > 0) by_categories_.push_back(j);
  const bool fit_nodes =
      std::ranges::all_of(shape_.n_categories, [](auto n) { return n <= kMissingBit; });
  if (!by_categories_.empty()) sets_ = fit_nodes ? Sets::in_nodes : Sets::in_words;
  if (!is_single_ || sets_ != Sets::none) nodes_ = Nodes<double>();
}

std::int64_t Forest::n_bytes() const {
  const std::size_t nodes = std::visit(
      [](const auto& all) { return all.size() * sizeof(all[0]); }, nodes_);
  const std::size_t numbers =
      lines_.size() + words_.size() + begins_.size() + leaf_weight_.size();
  return static_cast<std::int64_t>(nodes + 5 * answers_.size() + 8 * numbers);
}

/// A leaf as the last node of the last tree; `place` is its own from the tree's first node.
template <class T>
PackedNode<T> leaf_at(std::int32_t place) {
  return {std::numeric_limits<T>::infinity(), kMissingLeft, place};
}

/// `first_word`: where the tree's words begin among those of the forest.
double Forest::threshold_of(const FlatTree& tree, std::size_t node,
                            std::uint64_t first_word) const {
  const double threshold = tree.threshold[node];
  if (tree.category_start[node] == kNoChild) return is_single_ ? narrowed(threshold) : threshold;
  const auto start = static_cast<std::uint64_t>(tree.category_start[node]);
  if (sets_ == Sets::in_words) return std::bit_cast<double>(first_word + start);
  return set_in_node(tree.category_words[start], tree.missing_left[node]);
}

template <class T>
void Forest::add_nodes(const FlatTree& tree, Nodes<T>& nodes) {
  const auto width = static_cast<std::size_t>(line_width());
  const std::uint64_t first_word = words_.size();
  if (sets_ == Sets::in_words)
    words_.insert(words_.end(), tree.category_words.begin(), tree.category_words.end());
  const std::size_t n = tree.feature.size(), first = nodes.size();
  const std::vector<std::int32_t> sure = shape_.has_classes && shape_.n_outputs == 1
                                             ? sure_classes(tree)
                                             : std::vector<std::int32_t>(n, kNotSure);
  nodes.resize(first + n);
  answers_.resize(first + n);
  is_leaf_.resize(first + n);
  std::vector<std::int64_t> by_levels(n);  // the nodes level by level, siblings side by side
  std::size_t next = 1;
  for (std::size_t place = 0; place < n; ++place) {
    const auto i = static_cast<std::size_t>(by_levels[place]);
    const bool is_leaf = tree.left[i] == kNoChild;
    is_leaf_[first + place] = is_leaf;
    if (!is_leaf) {
      const bool by_categories = tree.category_start[i] != kNoChild;
      const std::uint32_t flags =
          (tree.missing_left[i] ? kMissingLeft : 0) | (by_categories ? kByCategories : 0);
      nodes[first + place] = {static_cast<T>(threshold_of(tree, i, first_word)),
                              static_cast<std::uint32_t>(tree.feature[i]) | flags,
                              static_cast<std::int32_t>(next)};
      by_levels[next++] = tree.left[i];
      by_levels[next++] = tree.right[i];
      continue;
    }
    nodes[first + place] = leaf_at<T>(static_cast<std::int32_t>(place));
    leaf_weight_.push_back(tree.weight[i]);
    std::int32_t& answer = answers_[first + place];
    answer = sure[i];
    if (answer != kNotSure) continue;
    answer = -1 - static_cast<std::int32_t>(lines_.size() / width);
    lines_.insert(lines_.end(), &tree.value[i * width], &tree.value[i * width] + width);
  }
}

void Forest::add(const FlatTree& tree) {
  std::visit(
      [&](auto& nodes) {
        add_nodes(tree, nodes);
        begins_.push_back(static_cast<std::int64_t>(nodes.size()));
      },
      nodes_);
}

// ------------------------------------------------------------------------------------- predictions

namespace {

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
          if (has_missing(rows)) walk_all<Way{Sets::none, true}>(nodes, rows, first, last, take);
          else walk_all<Way{Sets::none, false}>(nodes, rows, first, last, take);
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

// -------------------------------------------------------------------------------------------- parts

/// The weight of the leaf that each line of values belongs to.
std::vector<double> Forest::weight_of_lines() const {
  std::vector<double> weights;
  std::size_t leaf = 0;
  for (std::size_t i = 0; i < is_leaf_.size(); ++i) {
    if (is_leaf_[i] && answers_[i] < 0) weights.push_back(leaf_weight_[leaf]);
    leaf += is_leaf_[i];
  }
  return weights;
}

/// Shares of classes as counts, where they are; empty if they are not.
static std::vector<double> as_counts(std::span<const double> shares,
                                     std::span<const double> weights) {
  constexpr double most = 4294967295.0;
  std::vector<double> counts;
  const std::size_t width = weights.empty() ? 1 : shares.size() / weights.size();
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double weight = weights[i / width];
    const double count = std::round(shares[i] * weight);
    if (count > most || count / weight != shares[i]) return {};
    counts.push_back(count);
  }
  return counts;
}

/// Where the set of a node begins among `words`, to which it is added if it was in the node.
std::uint64_t Forest::start_of_set(double threshold, std::vector<std::uint64_t>& words) const {
  const auto bits = std::bit_cast<std::uint64_t>(threshold);
  if (sets_ == Sets::in_words) return bits;
  words.push_back(bits & ~kMissingIsIn);
  return words.size() - 1;
}

Forest::Parts Forest::parts() const {
  Parts parts;
  parts.begins = begins_;
  parts.lines = shape_.has_classes ? as_counts(lines_, weight_of_lines()) : std::vector<double>{};
  parts.lines_are_counts = !parts.lines.empty();
  if (!parts.lines_are_counts) parts.lines = lines_;
  parts.words = words_;
  parts.leaf_weight = leaf_weight_;
  parts.is_leaf = is_leaf_;
  std::visit(
      [&](const auto& nodes) {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
          const auto& node = nodes[i];
          if (is_leaf_[i]) {
            parts.has_line.push_back(answers_[i] < 0);
            if (answers_[i] >= 0) parts.asks.push_back(static_cast<std::uint32_t>(answers_[i]));
            continue;
          }
          parts.asks.push_back(node.asks);
          if (!(node.asks & kByCategories)) {
            parts.threshold.push_back(static_cast<double>(node.threshold));
            continue;
          }
          const std::uint64_t start = start_of_set(node.threshold, parts.words);
          parts.word_start.push_back(static_cast<std::uint32_t>(start));
        }
      },
      nodes_);
  return parts;
}

namespace {

/// Reads parts from their beginnings and believes none of them.
struct PartsReader {
  const ForestShape& shape;
  const Forest::Parts& parts;
  std::size_t width;
  bool sets_in_nodes;
  std::size_t ask = 0, number = 0, set = 0, leaf = 0, line = 0;

  std::uint32_t next_ask() {
    require(ask < parts.asks.size(), "a forest has fewer questions than nodes");
    return parts.asks[ask++];
  }

  template <class T>
  PackedNode<T> inner_node(std::int32_t next) {
    const std::uint32_t asks = next_ask(), feature = asks & kFeatureBits;
    require(feature < shape.n_categories.size(), "a forest splits by a feature that is not there");
    if (!(asks & kByCategories)) {
      require(number < parts.threshold.size(), "a forest has fewer thresholds than splits");
      return {static_cast<T>(parts.threshold[number++]), asks, next};
    }
    const auto n_words = static_cast<std::uint64_t>(shape.n_categories[feature] + 63) / 64;
    require(set < parts.word_start.size() && n_words > 0 &&
                parts.word_start[set] + n_words <= parts.words.size(),
            "a set of categories of a forest is not there");
    const std::uint64_t start = parts.word_start[set++];
    const double threshold = sets_in_nodes ? set_in_node(parts.words[start], asks & kMissingLeft)
                                           : std::bit_cast<double>(start);
    return {static_cast<T>(threshold), asks, next};
  }

  std::int32_t answer() {
    require(leaf < parts.has_line.size(), "a forest has fewer leaves than it says");
    if (parts.has_line[leaf++]) {
      require((line + 1) * width <= parts.lines.size(), "a leaf of a forest has no values");
      return -1 - static_cast<std::int32_t>(line++);
    }
    const std::uint32_t one = next_ask();
    require(one < width && shape.n_outputs == 1, "a leaf of a forest has no class");
    return static_cast<std::int32_t>(one);
  }

  bool is_at_end() const {
    return ask == parts.asks.size() && number == parts.threshold.size() &&
           set == parts.word_start.size() && leaf == parts.has_line.size() &&
           leaf == parts.leaf_weight.size() && line * width == parts.lines.size();
  }
};

}  // namespace

Forest Forest::of_parts(ForestShape shape, bool single_precision, const Parts& parts) {
  Forest forest(std::move(shape), single_precision);
  PartsReader reader{forest.shape_, parts, static_cast<std::size_t>(forest.line_width()),
                     forest.sets_ == Sets::in_nodes};
  require(!parts.begins.empty() && parts.begins.front() == 0 &&
              std::ranges::is_sorted(parts.begins) &&
              parts.begins.back() == static_cast<std::int64_t>(parts.is_leaf.size()),
          "the parts of a forest do not belong together");
  forest.begins_ = parts.begins;
  forest.lines_ = parts.lines;
  if (forest.sets_ == Sets::in_words) forest.words_ = parts.words;
  forest.leaf_weight_ = parts.leaf_weight;
  forest.is_leaf_ = parts.is_leaf;
  const auto make = [&](auto& nodes) {
    using T = decltype(std::remove_reference_t<decltype(nodes)>::value_type::threshold);
    for (std::size_t t = 0; t + 1 < parts.begins.size(); ++t) {
      const auto n = static_cast<std::int32_t>(parts.begins[t + 1] - parts.begins[t]);
      std::int32_t next = 1;
      for (std::int32_t i = 0; i < n; ++i) {
        const bool is_leaf = parts.is_leaf[static_cast<std::size_t>(parts.begins[t] + i)];
        require(is_leaf || (next > i && next + 1 < n), "a node of a forest leads nowhere");
        nodes.push_back(is_leaf ? leaf_at<T>(i) : reader.inner_node<T>(next));
        forest.answers_.push_back(is_leaf ? reader.answer() : 0);
        next += is_leaf ? 0 : 2;
      }
      require(next == n, "a tree of a forest has nodes without a parent");
    }
  };
  std::visit(make, forest.nodes_);
  require(reader.is_at_end(), "the parts of a forest do not belong together");
  if (parts.lines_are_counts) {
    const std::vector<double> weights = forest.weight_of_lines();
    for (std::size_t i = 0; i < forest.lines_.size(); ++i)
      forest.lines_[i] /= weights[i / reader.width];
  }
  return forest;
}

std::vector<double> Forest::values_of(std::int32_t answer) const {
  const auto width = static_cast<std::size_t>(line_width());
  std::vector<double> values(width, 0.0);
  if (answer >= 0) values[static_cast<std::size_t>(answer)] = 1.0;
  else std::copy_n(&lines_[static_cast<std::size_t>(-1 - answer) * width], width, values.begin());
  return values;
}

FlatTree Forest::tree(std::int64_t number) const {
  FlatTree tree;
  const auto width = static_cast<std::size_t>(line_width());
  tree.n_outputs = shape_.n_outputs;
  tree.value_width = line_width();
  tree.category_words = words_;
  const auto unpack = [&](const auto& nodes) {
    const auto begin = static_cast<std::size_t>(begins_[static_cast<std::size_t>(number)]);
    const auto end = static_cast<std::size_t>(begins_[static_cast<std::size_t>(number) + 1]);
    // A tree has one leaf more than inner nodes.
    std::size_t leaf = (begin + static_cast<std::size_t>(number)) / 2;
    tree.weight.resize(end - begin);
    tree.value.resize((end - begin) * width);
    for (std::size_t i = begin; i < end; ++i) {
      const auto& node = nodes[i];
      const bool is_leaf = is_leaf_[i] != 0, by_categories = node.asks & kByCategories;
      tree.feature.push_back(is_leaf ? kUndefined : std::int64_t{node.asks & kFeatureBits});
      tree.threshold.push_back(is_leaf || by_categories ? static_cast<double>(kUndefined)
                                                        : static_cast<double>(node.threshold));
      tree.left.push_back(is_leaf ? kNoChild : node.next);
      tree.right.push_back(is_leaf ? kNoChild : node.next + 1);
      tree.missing_left.push_back(!is_leaf && (node.asks & kMissingLeft));
      tree.category_start.push_back(
          by_categories
              ? static_cast<std::int64_t>(start_of_set(node.threshold, tree.category_words))
              : kNoChild);
      if (!is_leaf) continue;
      tree.weight[i - begin] = leaf_weight_[leaf++];
      std::ranges::copy(values_of(answers_[i]), &tree.value[(i - begin) * width]);
    }
  };
  std::visit(unpack, nodes_);
  const std::size_t n = tree.feature.size();
  tree.impurity.assign(n, 0.0);
  tree.n_samples.assign(n, 0);
  tree.n_candidates.assign(n, 0);
  for (std::size_t i = n; i-- > 0;) {
    if (tree.left[i] == kNoChild) continue;
    const auto a = static_cast<std::size_t>(tree.left[i]), b = static_cast<std::size_t>(tree.right[i]);
    tree.weight[i] = tree.weight[a] + tree.weight[b];
  }
  average_upwards(tree);
  return tree;
}

template void Forest::sums(const DenseRows<float>&, std::int64_t, std::int64_t,
                           std::span<const double>, std::span<double>, int) const;
template void Forest::sums(const DenseRows<double>&, std::int64_t, std::int64_t,
                           std::span<const double>, std::span<double>, int) const;
template void Forest::leaves(const DenseRows<float>&, std::span<std::int32_t>, int) const;
template void Forest::leaves(const DenseRows<double>&, std::span<std::int32_t>, int) const;

}  // namespace hedgerow
