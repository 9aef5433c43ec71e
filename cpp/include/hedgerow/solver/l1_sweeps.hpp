// Coordinate descent on a quadratic with an l1 penalty.
//
// Minimises, over the point p,
//
//   m(p) + sum_j price_j |p_j|,      m a quadratic with the positive semidefinite Hessian H,
//
// one coordinate at a time, in order. `slope` is the gradient of m at p; both are kept up to date.
// A coordinate whose H_jj is 0 moves to 0 if its price exceeds its slope, and else stays: along it
// there is no minimum.
//
// Cost: m numbers for each coordinate that moves, one for each that does not.
#pragma once

#include <cstdint>
#include <span>

namespace hedgerow {

/// Makes up to n_sweeps sweeps, and stops after one in which no coordinate was further than
/// `tolerance` from its optimality condition, in units of the slope. Returns the largest such
/// distance that the last sweep met.
double l1_sweeps(std::span<const double> hessian, std::span<const double> price,
                 std::span<double> point, std::span<double> slope, std::int64_t n_sweeps,
                 double tolerance);

}  // namespace hedgerow
