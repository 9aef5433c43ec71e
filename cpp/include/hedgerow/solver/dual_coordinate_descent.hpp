// Dual coordinate descent for linear support vector machines.
//
//   min over alpha   1/2 |sum alpha_i y_i x_i|^2 + rho/2 (sum y_i alpha_i)^2
//                    + shift sum y_i alpha_i + 1/2 sum curvature_i alpha_i^2 - sum alpha_i
//   subject to       0 <= alpha_i <= upper_i     (upper_i may be infinite; 0: the row never moves)
//
// With w = sum alpha_i y_i x_i and b = shift + rho sum y_i alpha_i, a row's gradient is
// y_i (w . x_i + b) - 1 + curvature_i alpha_i; a step minimises over alpha_i alone.
//
//   no intercept         rho = 0
//   penalised intercept  rho = scaling^2: the intercept is a weight on a feature of value `scaling`
//   free intercept       the constraint sum y_i alpha_i = 0 by the method of multipliers: between
//                        sweeps shift moves by rho sum y_i alpha_i, for a rho > 0 of any size
//
// Given: rows, y in {-1, 1}, upper, curvature. Returned: alpha, w, b and the violation, which is
// the range of the projected gradient over the rows visited (and 0), or rho |sum y_i alpha_i| if
// that is larger and the intercept free. Cost: one sweep reads each active row once or twice.
// Rows whose gradient says they stay at a bound leave the active set until the rest has converged.
//
// Hsieh, Chang, Lin, Keerthi, Sundararajan (2008), "A dual coordinate descent method for
// large-scale linear SVM", ICML, algorithm 3.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hedgerow/data/matrix.hpp"
#include "hedgerow/hot_loops.hpp"

namespace hedgerow {

class DualCoordinateDescent {
 public:
  struct Report {
    std::int64_t sweeps;
    double violation;  ///< of the last sweep; infinite if there was none
  };

  /// All that a later run depends on, between runs.
  struct State {
    std::vector<double> alpha;
    std::vector<double> w;
    double shift;
    double label_alpha;
    std::int64_t n_swept;
    bool multiplier_due;
  };

  /// The matrix is viewed, not copied: its arrays must outlive this object.
  DualCoordinateDescent(const Matrix& matrix, std::span<const double> y,
                        std::span<const double> upper, std::span<const double> curvature,
                        double rho, bool free_intercept, std::uint64_t seed);

  /// Makes up to n_sweeps sweeps, fewer if one over all rows finds no violation above `tolerance`.
  /// The order of sweep t, counted over all runs, comes from the random stream (seed, t).
  Report run(std::int64_t n_sweeps, double tolerance);

  /// Starts from a given alpha, 0 <= alpha <= upper; shift is kept.
  void set_alpha(std::span<const double> alpha);

  /// Where it stands, and going on from there: the same runs follow, to the last bit.
  State state() const;
  void restore(const State& state);

  std::int64_t n_points() const { return static_cast<std::int64_t>(points_.size()); }
  std::vector<double> alpha() const;
  std::span<const double> w() const { return w_; }
  double intercept() const { return shift_ + rho_ * label_alpha_; }

 private:
  void activate_all();
  void drop_shrunk();
  double sweep();

  Matrix matrix_;
  std::vector<DualPoint> points_;
  std::vector<double> w_;
  double rho_;
  bool free_intercept_;
  std::uint64_t seed_;
  std::int64_t n_swept_ = 0;
  double shift_ = 0.0;
  double label_alpha_ = 0.0;
  bool multiplier_due_ = false;  ///< a sweep ended since shift last moved

  std::vector<std::int64_t> active_;      ///< ascending, so that an order depends on the set alone
  std::vector<std::int64_t> order_;       ///< active_, shuffled
  std::vector<std::uint8_t> is_active_;   ///< per row
  bool all_active_ = false;
  double shrink_above_ = 0.0;
  double shrink_below_ = 0.0;
};

}  // namespace hedgerow
