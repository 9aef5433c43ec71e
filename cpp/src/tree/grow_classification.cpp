#include "tree/call.hpp"
#include "tree/class_tally.hpp"

namespace hedgerow::tree {
namespace {

/// Whether rows fit into the smallest items: weights are counts, these and classes are below 2^16,
/// and all counts together below 2^31.
bool is_small(const TreeTask& task, const ClassTargets& targets,
              std::span<const std::uint32_t> counts) {
  constexpr std::uint32_t most = 65535;
  std::uint64_t sum = static_cast<std::uint64_t>(task.table->n_rows);
  if (!counts.empty()) sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  return task.weights.empty() && targets.n_classes[0] <= static_cast<std::int32_t>(most) &&
         (counts.empty() || std::ranges::max(counts) <= most) && sum < (std::uint64_t{1} << 31);
}

template <ClassCriterion criterion>
FlatTree grow_by(const Call& call, const ClassTargets& targets) {
  const auto n_outputs = static_cast<std::int64_t>(targets.n_classes.size());
  const std::int64_t width = std::ranges::max(targets.n_classes);
  if (n_outputs > 1) return call.with<MultiOutputClassTally<criterion>>(targets, n_outputs, width);
  if (is_small(call.task, targets, call.counts))
    return call.with<ClassTally<ClassItem, std::int32_t, criterion>>(targets, 1, width);
  return call.with<ClassTally<WeightedClassItem, double, criterion>>(targets, 1, width);
}

}  // namespace

FlatTree grow_classification(const Call& call, const ClassTargets& targets) {
  switch (targets.criterion) {
    case ClassCriterion::gini:
      return grow_by<ClassCriterion::gini>(call, targets);
    case ClassCriterion::entropy:
      return grow_by<ClassCriterion::entropy>(call, targets);
    default:
      return grow_by<ClassCriterion::misclassification>(call, targets);
  }
}

}  // namespace hedgerow::tree
