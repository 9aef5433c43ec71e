// Growing a tree: what it learns from, by which rules, and the call.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "hedgerow/tree/codes.hpp"
#include "hedgerow/tree/tree.hpp"

namespace hedgerow {

enum class ClassCriterion { gini, entropy, misclassification };
enum class RegressionCriterion { squared_error, absolute_error, poisson };

/// Where a feature is cut: where that is best, at a random value, at the mean, at the median.
enum class Splitter { best, random, mean, median };

struct TreeSettings {
  Splitter splitter = Splitter::best;
  std::int64_t max_features = std::numeric_limits<std::int64_t>::max();  ///< of those that vary
  std::int64_t max_depth = -1;                                           ///< none if negative
  std::int64_t min_samples_split = 2;
  std::int64_t min_samples_leaf = 1;
  double min_weight_leaf = 0.0;
  std::int64_t max_leaf_nodes = -1;  ///< none if negative; else the best split is made first
  double min_impurity_decrease = 0.0;
  bool in_any_order =
      false;  ///< whether of features that are equally good any may be taken, not the first
  std::vector<std::int8_t> monotonic;  ///< empty, or 1, 0 or -1 for each feature
};

/// Classes of every row, n_outputs of them one after the other.
struct ClassTargets {
  ClassCriterion criterion;
  std::vector<std::int32_t> y;
  std::vector<std::int32_t> n_classes;  ///< of each output
};

struct RegressionTargets {
  RegressionCriterion criterion;
  std::vector<double> y;
  std::int64_t n_outputs;
};

/// The memory that growing a tree takes.
struct TreeWorkspace {
  virtual ~TreeWorkspace() = default;
};

/// Workspaces that are not in use, kept from one tree to the next: one per thread that has grown trees.
class WorkspacePool {
 public:
  std::unique_ptr<TreeWorkspace> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return nullptr;
    std::unique_ptr<TreeWorkspace> workspace = std::move(free_.back());
    free_.pop_back();
    return workspace;
  }
  void give_back(std::unique_ptr<TreeWorkspace> workspace) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(workspace));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<TreeWorkspace>> free_;
};

using TreeTargets = std::variant<ClassTargets, RegressionTargets>;

/// What trees learn from: made once, used by every tree of an ensemble.
struct TreeTask {
  std::shared_ptr<const CodeTable> table;
  TreeTargets targets;
  std::vector<double> weights;  ///< empty if all are 1
  std::shared_ptr<WorkspacePool> workspaces = std::make_shared<WorkspacePool>();

  /// The task with other targets and weights, as each round of boosting has them. Codes and workspaces
  /// are shared, so the new targets must be as many as the old ones, and of the same classes.
  TreeTask with_targets(TreeTargets others, std::vector<double> their_weights) const {
    return {table, std::move(others), std::move(their_weights), workspaces};
  }
};

/// Grows one tree. `counts` says how often each row is there; empty means once. Rows that are not
/// there, or have no weight, teach nothing, but their leaves are told too. Random choices are those
/// of (seed, stream). When the thread's token asks to stop, nodes that are still open become leaves.
FlatTree grow_tree(const TreeTask& task, const TreeSettings& settings,
                   std::span<const std::uint32_t> counts, std::uint64_t seed, std::uint64_t stream);

}  // namespace hedgerow
