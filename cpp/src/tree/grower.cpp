#include "hedgerow/tree/grower.hpp"

#include "tree/call.hpp"

namespace hedgerow {

FlatTree grow_tree(const TreeTask& task, const TreeSettings& settings,
                   std::span<const std::uint32_t> counts, std::uint64_t seed,
                   std::uint64_t stream) {
  const tree::Call call{task, settings, counts, seed, stream};
  if (const auto* classes = std::get_if<ClassTargets>(&task.targets))
    return tree::grow_classification(call, *classes);
  return tree::grow_regression(call, std::get<RegressionTargets>(task.targets));
}

}  // namespace hedgerow
