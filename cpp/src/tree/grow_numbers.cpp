#include "tree/absolute_tally.hpp"
#include "tree/call.hpp"
#include "tree/number_tally.hpp"

namespace hedgerow::tree {
namespace {

template <NumberCriterion criterion>
FlatTree grow_by(const Call& call, const NumberTargets& targets) {
  if (targets.n_outputs > 1)
    return call.with<SeveralNumberTally<criterion>>(targets, targets.n_outputs, 1);
  return call.with<NumberTally<criterion>>(targets, 1, 1);
}

}  // namespace

FlatTree grow_numbers(const Call& call, const NumberTargets& targets) {
  switch (targets.criterion) {
    case NumberCriterion::squared_error:
      return grow_by<NumberCriterion::squared_error>(call, targets);
    case NumberCriterion::poisson: return grow_by<NumberCriterion::poisson>(call, targets);
    default: return call.with<AbsoluteTally>(targets, targets.n_outputs, 1);
  }
}

}  // namespace hedgerow::tree
