// The sequential dual method for the machine of Crammer and Singer: all classes at once.
//
//   min over alpha   1/2 sum_k |sum_i alpha_ik x_i|^2 + rho/2 e_k^2 + shift_k e_k
//                    - sum_i alpha_i,label_i,              e_k = sum_i alpha_ik
//   subject to       sum_k alpha_ik = 0,  alpha_ik <= c_i if k is the row's label, else <= 0
//
// With w_k = sum_i alpha_ik x_i and b_k = shift_k + rho e_k, the slope of alpha_ik is the score of
// class k, plus 1 if k is another class than the row's. A visit minimises over all alphas of a row,
// exactly: alpha_ik = bound_ik - max(0, top_k - level) / (|x_i|^2 + rho), where top_k is the slope
// alpha_ik would have at its bound were all else the same, and the level makes the sum 0.
//
//   no intercepts          rho = 0
//   penalised intercepts   rho = scaling^2
//   free intercepts        the constraints e = 0 by the method of multipliers: between sweeps shift
//                          moves by rho e, for a rho > 0 of any size
//
// Given: rows, labels 0 ... n_classes - 1, c. Returned: alpha, w, b and the violation, the largest
// over the rows visited of what slopes must be equal and are not; or rho max |e_k| if that is larger
// and the intercepts are free. Cost: one sweep reads each active row, and n_classes weights for each
// of its entries, once or twice. Rows that no small change would move rest until the others have
// converged; then a look at all rows, by all threads, tells which are active next.
//
// Keerthi, Sundararajan, Chang, Hsieh, Lin (2008), "A sequential dual method for large scale
// multi-class linear SVMs", KDD. Crammer, Singer (2001), "On the algorithmic implementation of
// multiclass kernel-based vector machines", JMLR 2.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hedgerow/data/matrix.hpp"
#include "hedgerow/system/hot_loops.hpp"

namespace hedgerow {

class SequentialDual {
 public:
  struct Problem {
    std::span<const std::int64_t> label;
    std::span<const double> weight;  ///< c
    std::int64_t n_classes;
    double rho;
    bool free_intercept;
  };

  struct Options {
    bool shuffled;   ///< each row once a sweep in an order drawn anew, or as they stand
    bool shrinking;  ///< whether rows may rest
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
    std::vector<double> w;  ///< as it is stored
    std::vector<double> shift;
    std::vector<double> excess;
    std::int64_t n_swept;
    bool multiplier_due;
  };

  /// The matrix is viewed, not copied: its arrays must outlive this object.
  SequentialDual(const Matrix& matrix, const Problem& problem, const Options& options);

  /// Makes up to n_sweeps sweeps, fewer if a look at all rows finds no violation above `tolerance`.
  /// The order of sweep t, counted over all runs, comes from the random stream (seed, t).
  Report run(std::int64_t n_sweeps, double tolerance);

  /// Where it stands, and going on from there: the same runs follow, to the last bit.
  State state() const;
  void restore(const State& state);

  std::int64_t n_points() const { return static_cast<std::int64_t>(label_.size()); }
  std::int64_t n_classes() const { return n_classes_; }
  std::int64_t n_stored_weights() const { return static_cast<std::int64_t>(w_.size()); }

  /// n_classes for each row.
  std::span<const double> alpha() const { return alpha_; }

  /// One hyperplane after the other, each with its intercept last.
  std::vector<double> hyperplanes() const;

  /// The scores of all rows, n_classes for each.
  std::span<const double> scores();

 private:
  ClassSweep sweep_of(std::span<const std::int64_t> rows);
  void set_intercepts();
  double violation_of(const ClassSweep& sweep) const;
  void activate_all();
  void drop_resting();
  void rest_by(const ClassSweep& sweep);
  /// Visits the active rows; returns the violation they had.
  double sweep();
  /// Activates the rows that are not to rest; returns the violation of all.
  double look();

  Matrix matrix_;
  std::int64_t n_classes_;
  std::int64_t stride_;
  double rho_;
  bool free_intercept_;
  Options options_;

  std::vector<std::int64_t> label_;
  std::vector<double> weight_, diagonal_, alpha_;
  std::vector<double> w_;
  std::vector<double> shift_, excess_, intercept_;
  std::vector<double> scratch_;
  std::int64_t n_swept_ = 0;
  bool multiplier_due_ = false;  ///< a sweep ended since shift last moved

  std::vector<std::int64_t> active_;     ///< ascending, so that an order depends on the set alone
  std::vector<std::uint8_t> is_active_;  ///< per row
  double rest_above_;                    ///< as in ClassSweep, by what was last seen

  std::vector<double> scores_;
  bool scores_hold_ = false;  ///< nothing moved since they were computed
};

}  // namespace hedgerow
