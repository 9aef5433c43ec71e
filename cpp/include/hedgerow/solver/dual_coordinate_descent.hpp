// Dual coordinate descent for linear machines.
//
//   min over alpha   1/2 |sum alpha_i y_i x_i|^2 + rho/2 e^2 + shift e
//                    + sum conj_i(alpha_i) - p_i alpha_i,    e = sum alpha_i y_i - balance
//
// where conj_i is the conjugate of c_i times the loss of the residual r_i = p_i - y_i score_i:
//
//   hinge                        0 on [0, c]
//   squared_hinge                alpha^2 / (4 c) on [0, inf)
//   logistic                     alpha log(alpha / c) + (c - alpha) log(1 - alpha / c) on [0, c]
//   epsilon_insensitive          epsilon |alpha| on [-c, c]
//   squared_epsilon_insensitive  epsilon |alpha| + alpha^2 / (4 c)
//
// With w = sum alpha_i y_i x_i and b = shift + rho e, a row's slope is conj_i'(alpha_i) - r_i; a
// step minimises over alpha_i alone, exactly. Rows with c_i = 0 stay at 0.
//
//   no intercept         rho = 0
//   penalised intercept  rho = scaling^2: the intercept is a weight on a feature of value `scaling`
//   free intercept       the constraint e = 0 by the method of multipliers: between sweeps shift
//                        moves by rho e, for a rho > 0 of any size
//
// Given: rows, y in {-1, 1}, p, c. Returned: alpha, w, b and the violation, which is the range of
// the slopes that lead down over the rows visited (and 0), or rho |e| if that is larger and the
// intercept free. Cost: one sweep reads each active row once or twice. Rows whose slopes say they
// stay where they are, at a bound or at a kink, rest until the others have converged; then a look at
// all rows, by all threads, tells which are active next.
//
// Hsieh, Chang, Lin, Keerthi, Sundararajan (2008), "A dual coordinate descent method for
// large-scale linear SVM", ICML, algorithm 3. Ho, Lin (2012), "Large-scale linear support vector
// regression", JMLR 13. The step of the logistic loss: src/hot/dual_rules.inl.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hedgerow/data/matrix.hpp"
#include "hedgerow/system/hot_loops.hpp"

namespace hedgerow {

enum class DualLoss {
  hinge,
  squared_hinge,
  logistic,
  epsilon_insensitive,
  squared_epsilon_insensitive,
};

/// The conjugate of any of them but the logistic loss.
BoxShape box_shape(DualLoss loss, double epsilon);

/// A row rests if its slopes hold it back by more than this share of the largest violation. Rows that
/// should not have are found by the next look.
constexpr double kRestShare = 0.1;

/// How a sweep visits the active rows.
enum class RowOrder {
  shuffled,    ///< each once, in an order drawn anew
  cyclic,      ///< each once, as they stand
  stochastic,  ///< as many draws as there are rows, each one any of them
};

class DualCoordinateDescent {
 public:
  struct Problem {
    std::span<const double> y;
    std::span<const double> target;  ///< p
    std::span<const double> weight;  ///< c
    DualLoss loss;
    double epsilon;  ///< of the two losses that are named after it
    double rho;
    bool free_intercept;
    double balance;
  };

  struct Options {
    RowOrder order;
    bool shrinking;
    std::uint64_t seed;
    int n_threads;  ///< for all but the sweeps
  };

  struct Report {
    std::int64_t sweeps;  ///< visits over the number of rows, rounded up: shrunk sweeps count less
    double violation;     ///< of all rows in the end; infinite if there was no sweep
  };

  /// All that a later run depends on, between runs.
  struct State {
    std::vector<double> alpha;
    std::vector<double> w;
    double shift;
    double excess;
    std::int64_t n_swept;
    bool multiplier_due;
  };

  /// The matrix is viewed, not copied: its arrays must outlive this object.
  DualCoordinateDescent(const Matrix& matrix, const Problem& problem, const Options& options);

  /// Makes up to n_sweeps sweeps, fewer if a look at all rows finds no violation above `tolerance`.
  /// The order of sweep t, counted over all runs, comes from the random stream (seed, t).
  Report run(std::int64_t n_sweeps, double tolerance);

  /// Starts from a given alpha, in the domains of the conjugates, and from a free intercept.
  void set_alpha(std::span<const double> alpha, double intercept);

  /// Where it stands, and going on from there: the same runs follow, to the last bit.
  State state() const;
  void restore(const State& state);

  std::int64_t n_points() const { return static_cast<std::int64_t>(points_.size()); }
  std::vector<double> alpha() const;
  std::span<const double> w() const { return w_; }

  /// The scores of all rows.
  std::span<const double> scores();

  double intercept() const { return shift_ + rho_ * excess_; }

 private:
  DualSweep sweep_of(std::span<const std::int64_t> rows);
  double violation_of(const DualSweep& sweep) const;
  void shrink_none();
  void shrink_by(const DualSweep& sweep);
  void arrange();
  void activate_all();
  void drop_resting();
  /// Whether each sweep visits all rows.
  bool sees_all() const;
  /// Visits the active rows; returns the violation they had.
  double sweep();
  /// Activates the rows that are not to rest; returns the violation of all.
  double look();

  Matrix matrix_;
  DualLoss loss_;
  BoxShape box_;
  double rho_;
  bool free_intercept_;
  double balance_;
  Options options_;

  std::vector<DualPoint> points_;
  std::vector<double> w_;
  double excess_;  ///< e
  double shift_ = 0.0;
  std::int64_t n_swept_ = 0;
  bool multiplier_due_ = false;  ///< a sweep ended since shift last moved

  std::vector<std::int64_t> active_;     ///< ascending, so that an order depends on the set alone
  std::vector<std::int64_t> order_;      ///< the visits of one sweep
  std::vector<std::uint8_t> is_active_;  ///< per row
  double shrink_above_;                  ///< as in DualSweep, by what was last seen
  double shrink_below_;

  std::vector<double> scores_;
  bool scores_hold_ = false;  ///< nothing moved since they were computed
};

}  // namespace hedgerow
