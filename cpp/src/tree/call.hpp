// What is the same for every criterion of a call to grow_tree.
#pragma once

#include "hedgerow/tree/grower.hpp"
#include "tree/tree_grower.hpp"

namespace hedgerow::tree {

struct Call {
  const TreeTask& task;
  const TreeSettings& settings;
  std::span<const std::uint32_t> counts;
  std::uint64_t seed, stream;

  template <class Tally, class Targets>
  FlatTree with(const Targets& targets, std::int64_t n_outputs, std::int64_t width) const {
    std::unique_ptr<TreeWorkspace> workspace = task.workspaces->take();
    if (dynamic_cast<TreeGrower<Tally>*>(workspace.get()) == nullptr)
      workspace = std::make_unique<TreeGrower<Tally>>(*task.table, Tally(targets), n_outputs,
                                                      n_outputs * width);
    auto& growing = static_cast<TreeGrower<Tally>&>(*workspace);
    growing.learn_from(targets, task.weights);
    FlatTree tree = growing.grow(settings, counts, seed, stream);
    task.workspaces->give_back(std::move(workspace));
    return tree;
  }
};

FlatTree grow_classification(const Call& call, const ClassTargets& targets);
FlatTree grow_regression(const Call& call, const RegressionTargets& targets);

}  // namespace hedgerow::tree
