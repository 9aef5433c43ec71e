// The quadratic program behind every kernel machine, by decomposition.
//
//   minimise   1/2 beta' (Q + diag(ridge)) beta + linear' beta      over  lower <= beta <= upper
//
// where Q_uv = K(point of u, point of v), and the sum of the betas of each group stays what it was at
// the start (at most two groups), or nothing is asked of it. Signs are part of beta: a machine's
// beta is y alpha. A point has one variable, or two: variable v is of point v mod n_points.
//
// The problem is solved on active points, the others resting where they are; activate() adds some.
// Each round takes the variables that violate the optimality conditions most, together with the newest
// half of those before; solves for these by pairs (or one by one if there are no sums to keep) on
// their own block of values; and brings the scores (Q beta) of all active points up to date with the
// rows of what has moved. Rows are kept as the budget allows. Scores are float64, made of float32 rows:
// set_beta() puts exact ones in their place, from which it goes on.
//
// Given: a kernel source and the vectors. Returned: beta, scores. Cost: a round costs as much as the
// rows that moved times the active points. Papers: Joachims, Making large-scale SVM learning
// practical, 1998 (decomposition); Fan, Chen, Lin, Working set selection using second order
// information for training SVMs, JMLR 2005 (pairs); Wen, Shi, Li, He, Chen, ThunderSVM, JMLR 2018
// (large working sets of which half is kept).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hedgerow/kernel/source.hpp"
#include "hedgerow/solver/working_places.hpp"

namespace hedgerow {

class RowStore;
class WorkingBlock;

/// Variables by how steep their way up is, or their way down.
struct Candidates {
  struct One {
    double steepness;
    std::int64_t slot;
  };
  std::vector<One> rising[2], falling[2];  ///< of each group
};

class BoxQp {
 public:
  struct Problem {
    std::span<const double> linear, lower, upper, ridge;  ///< one a variable
    std::span<const double> diagonal;                     ///< K(p, p), one a point
    std::span<const std::uint8_t> group;                  ///< 0 or 1, one a variable
    bool keeps_sums;
  };

  struct Options {
    std::int64_t bytes;        ///< for rows that are kept
    std::int64_t working_set;  ///< variables solved for at a time
    int n_threads;
  };

  struct Report {
    std::int64_t rounds, steps;
    double violation;  ///< of the active points, before the last round if that was the limit
    bool has_stalled;  ///< a round moved nothing
  };

  /// All that later rounds depend on; kernel values are computed again.
  struct State {
    std::vector<double> beta;          ///< one a variable
    std::vector<double> scores, seen;  ///< one a point
    std::vector<std::int64_t> points;  ///< the active ones, in their order
    std::vector<std::int64_t> ends;    ///< where, among these, pieces of their rows end
    WorkingPlaces places;              ///< variables are those of the active points, in their order
  };

  /// Begins at a beta within the bounds, whose scores are given.
  BoxQp(std::shared_ptr<const KernelSource> source, const Problem& problem,
        std::span<const double> beta, std::span<const double> scores, const Options& options);
  ~BoxQp();

  /// Goes on with another program over the same points, which has as many variables: active points stay
  /// active, and what is kept of their rows serves it too.
  void restart(const Problem& problem, std::span<const double> beta,
               std::span<const double> scores);

  /// Adds points that are not active yet.
  void activate(std::span<const std::int64_t> points);

  /// Makes up to n_rounds rounds and n_steps steps, until the violation among the active points is
  /// within the tolerance. If it is stopped, beta still meets the constraints, but nothing else is of use.
  Report run(std::int64_t n_rounds, std::int64_t n_steps, double tolerance);

  /// Brings the scores of the resting points up to date.
  void look();

  /// Goes on from another beta, within the bounds and with the same sums, whose exact scores are given.
  void set_beta(std::span<const double> beta, std::span<const double> scores);

  /// Goes on with another linear term.
  void set_linear(std::span<const double> linear);

  State state() const;

  /// Goes on from a state of a solver of the same program, to the same bits.
  void set_state(State state);

  std::vector<double> beta() const;
  std::vector<double> scores() const;
  std::span<const std::uint8_t> is_active() const { return is_active_; }
  std::int64_t n_points() const { return n_points_; }
  std::int64_t n_variables() const { return static_cast<std::int64_t>(beta_.size()); }
  std::int64_t n_places() const;

 private:
  /// The variables of active points, those of one point side by side.
  struct Active {
    std::vector<std::int64_t> variable;
    std::vector<double> linear, lower, upper, ridge, beta;
    std::vector<std::uint8_t> group;
    std::vector<double> score;  ///< one a point
  };

  double slope(std::int64_t slot) const {
    return -(active_.score[slot / n_sides_] + active_.linear[slot] +
             active_.ridge[slot] * active_.beta[slot]);
  }
  void read(const Problem& problem, std::span<const double> beta, std::span<const double> scores);
  void add_variables_of(std::int64_t point);
  double find_candidates();
  void refill_block();
  bool solve_block(double tolerance, std::int64_t n_steps, Report& report);
  bool take_over(std::span<const double> beta);
  std::vector<double> per_point(std::span<const double> beta) const;

  std::shared_ptr<const KernelSource> source_;
  std::int64_t n_points_, n_sides_;
  std::vector<double> linear_, lower_, upper_, ridge_, diagonal_;
  std::vector<std::uint8_t> group_;
  bool keeps_sums_;
  Options options_;

  std::vector<double> beta_, scores_;  ///< of resting points; active ones have theirs in active_
  std::vector<double>
      seen_;  ///< the sum of a point's betas that the scores of resting points know of
  std::vector<std::uint8_t> is_active_;
  Active active_;
  std::unique_ptr<RowStore> store_;
  std::unique_ptr<WorkingBlock> block_;
  Candidates candidates_;
};

}  // namespace hedgerow
