// What is the same for every criterion of a call to grow_tree.
#pragma once

#include "growing.hpp"
#include "hedgerow/tree/grower.hpp"

namespace hedgerow::tree {

struct Call {
  const TreeTask& task;
  const TreeSettings& settings;
  std::span<const std::uint32_t> counts;
  std::uint64_t seed, stream;

  template <class Tally, class Targets>
  FlatTree with(const Targets& targets, std::int64_t n_outputs, std::int64_t width) const {
    std::unique_ptr<TreeRoom> room = task.rooms->take();
    if (dynamic_cast<Growing<Tally>*>(room.get()) == nullptr)
      room = std::make_unique<Growing<Tally>>(task, Tally(targets, task.weights), n_outputs,
                                              n_outputs * width);
    FlatTree tree = static_cast<Growing<Tally>&>(*room).grow(settings, counts, seed, stream);
    task.rooms->give_back(std::move(room));
    return tree;
  }
};

FlatTree grow_classes(const Call& call, const ClassTargets& targets);
FlatTree grow_numbers(const Call& call, const NumberTargets& targets);

}  // namespace hedgerow::tree
