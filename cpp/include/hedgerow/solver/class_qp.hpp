// The machine of Crammer and Singer with a kernel: all classes at once, by decomposition.
//
//   min over beta    1/2 sum_k beta_k' K beta_k - sum_i beta_i,label_i
//   subject to       sum_k beta_ik = 0,  beta_ik <= c_i if k is the point's label, else <= 0
//                    sum_i beta_ik = 0, if intercepts are free
//
// Each round takes the points that violate the optimality conditions most, together with the newest
// half of those before; sweeps over these on their own block of kernel values, minimising over all
// betas of a point as the sequential dual method does (sequential_dual.hpp); and brings the scores
// (K beta) of all points up to date with the rows of what has moved, which serve all classes at once. Free
// intercepts are by the method of multipliers: b_k = shift_k + rho e_k with e_k = sum_i beta_ik, and
// between sweeps shift moves by rho e. So the sums are 0 only in the limit. Scores are float64, made of
// float32 rows: set_point() puts exact ones in their place, from which it goes on.
//
// Given: a kernel source, labels 0 ... n_classes - 1, c. Returned: beta, b. Cost: a round costs as much
// as the betas that moved times the points. Papers: those of sequential_dual.hpp and box_qp.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hedgerow/system/hot_loops.hpp"
#include "hedgerow/kernel/source.hpp"
#include "hedgerow/solver/working_places.hpp"

namespace hedgerow {

class RowStore;
class WorkingBlock;

class ClassQp {
 public:
  struct Problem {
    std::span<const std::int64_t> label;
    std::span<const double> weight;    ///< c
    std::span<const double> diagonal;  ///< K(p, p)
    std::int64_t n_classes;
    double rho;  ///< 0 without intercepts
  };

  struct Options {
    std::int64_t bytes;        ///< for rows that are kept
    std::int64_t working_set;  ///< points solved for at a time
    int n_threads;
  };

  /// A beta within its bounds, with n_classes numbers a point; its scores, likewise; and the intercepts.
  struct Point {
    std::span<const double> beta, scores, intercept;
  };

  struct Report {
    std::int64_t rounds;
    std::int64_t steps;  ///< points moved
    double
        violation;  ///< of the points, or rho max |e_k|, before the last round if that was the limit
    bool has_stalled;  ///< a round moved nothing
  };

  /// All that later rounds depend on; kernel values are computed again.
  struct State {
    std::vector<double> beta;                      ///< n_classes a point
    std::vector<double> scores;                    ///< class after class
    std::vector<double> shift, excess, intercept;  ///< one a class
    WorkingPlaces places;
  };

  ClassQp(std::shared_ptr<const KernelSource> source, const Problem& problem, const Point& point,
          const Options& options);
  ~ClassQp();

  /// Makes up to n_rounds rounds and n_steps steps, until the violation is within the tolerance. If it is
  /// stopped, beta is still within its bounds, but nothing else is of use.
  Report run(std::int64_t n_rounds, std::int64_t n_steps, double tolerance);

  /// Goes on from another point.
  void set_point(const Point& point);

  State state() const;

  /// Goes on from a state of a solver of the same problem, to the same bits.
  void set_state(State state);

  std::span<const double> beta() const { return beta_; }
  std::span<const double> intercept() const { return shift_; }
  std::int64_t n_points() const { return static_cast<std::int64_t>(label_.size()); }
  std::int64_t n_classes() const { return n_classes_; }
  std::int64_t n_places() const;

 private:
  /// The points of the working block, side by side.
  struct Block {
    std::vector<std::int64_t> label;
    std::vector<double> weight, diagonal, beta;
    std::vector<double> scores;  ///< class after class
  };

  void set_intercepts();
  void move_shift();
  double imbalance() const;
  double find_violators(double tolerance);
  void refill_block();
  Block gather_block() const;
  bool solve_block(double tolerance, std::int64_t n_steps, Report& report);
  bool take_over(std::span<const double> beta);

  std::shared_ptr<const KernelSource> source_;
  std::int64_t n_classes_;
  double rho_;
  std::vector<std::int64_t> label_;
  std::vector<double> weight_, diagonal_;  ///< the latter with rho
  std::vector<double> beta_;               ///< n_classes a point
  std::vector<double> scores_;             ///< class after class
  std::vector<double> shift_, excess_, intercept_, scratch_;
  std::vector<double> violation_;        ///< of each point
  std::vector<std::int64_t> violators_;  ///< those that the block should have
  std::unique_ptr<RowStore> store_;
  std::unique_ptr<WorkingBlock> block_;
};

}  // namespace hedgerow
