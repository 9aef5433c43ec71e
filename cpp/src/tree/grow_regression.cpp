#include "tree/absolute_error_tally.hpp"
#include "tree/call.hpp"
#include "tree/regression_tally.hpp"

namespace hedgerow::tree {
namespace {

template <RegressionCriterion criterion>
FlatTree grow_by(const Call& call, const RegressionTargets& targets) {
  if (targets.n_outputs > 1)
    return call.with<MultiOutputRegressionTally<criterion>>(targets, targets.n_outputs, 1);
  return call.with<RegressionTally<criterion>>(targets, 1, 1);
}

}  // namespace

FlatTree grow_regression(const Call& call, const RegressionTargets& targets) {
  switch (targets.criterion) {
    case RegressionCriterion::squared_error:
      return grow_by<RegressionCriterion::squared_error>(call, targets);
    case RegressionCriterion::poisson:
      return grow_by<RegressionCriterion::poisson>(call, targets);
    default:
      return call.with<AbsoluteErrorTally>(targets, targets.n_outputs, 1);
  }
}

}  // namespace hedgerow::tree
