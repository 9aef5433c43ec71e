// Dual coordinate descent for several hyperplanes over the same rows.
//
// Each hyperplane is a problem of solver/dual_coordinate_descent.hpp: labels and weights are its
// own, the rows, the loss and rho are shared. A sweep visits each row once for all hyperplanes that
// it is active for: the row is read once, and the weights of a feature lie side by side. What a
// hyperplane does depends on the others by the order of the rows alone.
//
// Given: rows; y c of every hyperplane and row; p. Returned: alphas, hyperplanes and violations, as
// there. Cost: one sweep reads each row that any hyperplane is active for once or twice; worth it
// as long as most rows are active for most hyperplanes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hedgerow/data/matrix.hpp"
#include "hedgerow/system/hot_loops.hpp"
#include "hedgerow/solver/dual_coordinate_descent.hpp"

namespace hedgerow {

class JointDescent {
 public:
  struct Problem {
    std::span<const double> weight;  ///< y c, hyperplane after hyperplane
    std::int64_t n_hyperplanes;
    double target;  ///< p
    DualLoss loss;  ///< hinge, squared_hinge or logistic
    double rho;
    bool free_intercept;
  };

  struct Options {
    bool shrinking;
    std::uint64_t seed;
    int n_threads;  ///< for all but the sweeps
  };

  struct Report {
    std::vector<double> sweeps;     ///< of each hyperplane: visits over the number of rows
    std::vector<double> violation;  ///< of all rows, in the end
    std::int64_t n_rows_visited;
    std::int64_t n_visits;  ///< of rows and hyperplanes
  };

  /// The matrix is viewed, not copied: its arrays must outlive this object.
  JointDescent(const Matrix& matrix, const Problem& problem, const Options& options);

  /// Makes up to n_sweeps sweeps; a hyperplane rests that has no violation above its tolerance. The
  /// order of sweep t, counted over all runs, comes from the random stream (seed, t).
  Report run(std::int64_t n_sweeps, std::span<const double> tolerance);

  /// Starts from these alphas, hyperplane after hyperplane, and from free intercepts.
  void set_alpha(std::span<const double> alpha, std::span<const double> intercept);

  /// The hyperplane takes no further part.
  void retire(std::int64_t hyperplane) { is_retired_[static_cast<std::size_t>(hyperplane)] = 1; }

  std::int64_t n_points() const { return static_cast<std::int64_t>(diagonal_.size()); }
  std::int64_t n_hyperplanes() const { return n_hyperplanes_; }
  std::int64_t n_swept() const { return n_swept_; }

  /// Hyperplane after hyperplane.
  std::vector<double> alpha() const;
  std::vector<double> w() const;
  std::vector<double> scores();
  std::span<const double> intercept() const { return of_hyperplanes(intercept_); }
  std::span<const double> excess() const { return of_hyperplanes(excess_); }

 private:
  using Values = std::vector<double>;

  std::span<const double> of_hyperplanes(const Values& values) const {
    return {values.data(), static_cast<std::size_t>(n_hyperplanes_)};
  }
  JointSweep sweep_of(std::span<const std::int64_t> rows);
  void set_intercepts();
  void activate_all();
  void rest_none();
  void rest_by_slopes();
  void rest_hyperplane(std::int64_t hyperplane);
  double violation_of(std::int64_t hyperplane) const;
  /// Orders the rows that any hyperplane is active for, and counts the visits.
  void arrange(Report& report);
  void sweep();
  void move_multipliers();
  /// Activates what is not to rest; sets the violations of all rows.
  void look(Report& report);
  void refresh_scores();

  Matrix matrix_;
  std::int64_t n_hyperplanes_;
  std::int64_t stride_;
  DualLoss loss_;
  BoxShape box_;
  double target_;
  double rho_;
  bool free_intercept_;
  Options options_;

  Values beta_, weight_, diagonal_, w_;
  Values shift_, excess_, intercept_;
  Values rest_above_, rest_below_, slope_max_, slope_min_;
  Values scratch_;
  std::vector<std::int8_t> is_active_;  ///< of rows and hyperplanes
  std::vector<std::int8_t> is_retired_, takes_part_;
  std::vector<std::int8_t> multiplier_due_;  ///< a sweep ended since shift last moved
  std::vector<std::int64_t> all_, order_;
  std::int64_t n_swept_ = 0;

  Values scores_;
  bool scores_hold_ = false;
};

}  // namespace hedgerow
