// The hot loops as a table of function pointers, one table per instruction set. This header is seen
// by code compiled for several of them: it holds plain data and no functions.
#pragma once

#include <cstdint>

#include "hedgerow/data/rows.hpp"
#include "hedgerow/kernel/loops.hpp"

namespace hedgerow {

/// Matrix products and factorisations are cut into square tiles of this order: two of them, as
/// deep as one stretch of the summation, fit the second-level cache.
constexpr std::int64_t kTileOrder = 96;

/// The length of a stretch of the summation.
constexpr std::int64_t kTileDepth = 192;

/// Poisson counts are drawn for so many units at a time.
constexpr std::int64_t kPoissonUnits = 512;

/// Counts below this are told by the byte they are drawn with: 0 to 4.
constexpr int kPoissonCuts = 5;

/// What dual coordinate descent knows of one row, side by side because rows are visited at random:
/// two rows to a line of the cache.
struct DualPoint {
  double beta;              ///< y alpha
  double target;            ///< y p
  double weight;            ///< y c
  double inverse_diagonal;  ///< 1 / (|x|^2 + rho + curvature), possibly infinite
};

/// The conjugate of a loss that is piecewise linear or quadratic: epsilon |beta| +
/// 1/2 softness / c beta^2, where |beta| <= c top. One-sided, beta has the sign of y.
struct BoxShape {
  double epsilon;
  double softness;  ///< 1/2 for squared losses, else 0
  double top;       ///< infinite for squared losses, else 1
  bool two_sided;
};

/// One sweep over `order`, or a stretch of one; see solver/dual_coordinate_descent.hpp for the
/// mathematics.
struct DualSweep {
  DualPoint* points;
  double* w;
  const std::int64_t* order;
  std::int64_t n_order;
  std::uint8_t* active;  ///< set to 0 for each row that is shrunk
  BoxShape box;          ///< not read by logistic_sweep
  double rho;
  double shift;
  double excess;          ///< sum of beta, less what it should be; kept up to date
  double shrink_above;    ///< a row is shrunk if the slope to its right is larger than this
  double shrink_below;    ///< and the slope to its left smaller than this
  double slope_max;       ///< the steepest way down to the left met so far, or 0
  double slope_min;       ///< the steepest way down to the right met so far, or 0
  std::int64_t n_shrunk;  ///< rows shrunk so far
};

/// Hyperplanes of several classes are stored in groups of so many: a whole number of registers.
constexpr std::int64_t kClassGroup = 8;

/// Hyperplanes of several classes: the weights of feature j are w[j * stride] ... w[j * stride +
/// n_classes - 1], and zeros up to the next feature.
struct ClassHyperplanes {
  const double* w;
  const double* intercept;
  std::int64_t n_classes;
  std::int64_t stride;  ///< a multiple of kClassGroup
};

/// The dual variables of all classes at once, of some rows; see solver/sequential_dual.hpp for the
/// mathematics.
struct ClassDual {
  double* alpha;  ///< n_classes for each row
  const std::int64_t* label;
  const double* weight;
  const double* diagonal;  ///< |x|^2 + rho
  double* intercept;       ///< shift + rho excess, kept up to date
  double* excess;          ///< sum of the alphas of each class, kept up to date
  std::int64_t n_classes;
  double rho;
};

/// One sweep over `order` for all classes at once, or a stretch of one.
struct ClassSweep {
  ClassDual dual;
  double* w;  ///< as in ClassHyperplanes
  std::int64_t stride;
  const std::int64_t* order;
  std::int64_t n_order;
  std::uint8_t* active;    ///< set to 0 for each row that is to rest
  double* scratch;         ///< room for 2 * stride
  double rest_above;       ///< a row rests if it is held by more than this
  double violation;        ///< the largest met so far
  std::int64_t n_resting;  ///< rows put to rest so far
};

/// The same among points of which the kernel values are known; see solver/class_qp.hpp.
struct ClassSteps {
  ClassDual dual;  ///< diagonal is K(p, p) + rho
  double* scores;  ///< of class k they begin at k * n_points, kept up to date
  std::int64_t n_points;
  double* scratch;      ///< room for 2 * n_classes
  const float* kernel;  ///< row-major, symmetric, whole vectors of columns
  std::int64_t ld;
  double tolerance;  ///< a point that violates by no more stays as it is
  std::int64_t max_steps;
  std::int64_t n_steps;  ///< out: points that have moved
  double violation;      ///< out: the largest met
};

/// One sweep over `order` for several hyperplanes, each with labels and weights of its own, or a
/// stretch of one; see solver/joint_descent.hpp for the mathematics. Tables have `stride` columns,
/// one a hyperplane and then some that are never active.
struct JointSweep {
  double* beta;            ///< a row each: y alpha
  const double* weight;    ///< a row each: y c
  const double* diagonal;  ///< |x|^2 + rho
  std::int8_t* active;     ///< a row each: -1, or 0 where the row rests
  double* w;               ///< as in ClassHyperplanes
  double* intercept;       ///< shift + rho excess, kept up to date
  double* excess;          ///< the sum of the betas, kept up to date
  double* rest_above;      ///< a row rests if the slope to its right is larger than this
  double* rest_below;      ///< and the slope to its left smaller than this
  double* slope_max;       ///< the steepest way down to the left met so far, or 0
  double* slope_min;       ///< the steepest way down to the right met so far, or 0
  std::int64_t stride;
  BoxShape box;   ///< not read by logistic_joint_sweep
  double target;  ///< p, of all rows
  double rho;
  const std::int64_t* order;
  std::int64_t n_order;
  double* scratch;  ///< room for 2 * stride
};

/// One pass of the perceptron over `order`; see solver/perceptron.hpp.
struct PerceptronPass {
  const double* y;
  const double* weight;
  const std::int64_t* order;
  std::int64_t n_order;
  double step;
  bool fit_intercept;
  double* coef;
  double intercept;
  std::int64_t* mistakes;  ///< out: positions in `order`, room for n_order
};

/// What a loss looks like as a function of the residual; see loss/loss_pass.hpp.
enum class LossKind { one_sided, two_sided, logistic };

struct LossShape {
  LossKind kind;
  bool bounded;      ///< whether alpha stops at the row's weight; the true loss is squared if not
  double epsilon;    ///< two_sided: how large a residual costs nothing
  double steepness;  ///< how fast alpha grows with the residual, for weight 1
};

/// One value a row each.
struct LossRows {
  const double* y;
  const double* target;
  const double* weight;
  const double* shift;  ///< null for 0; may be alpha
  double* residual;
  double* alpha;      ///< out
  double* curvature;  ///< out
};

/// Sums over rows; see loss/loss_pass.hpp.
struct LossSums {
  double balance, smooth, value, gain;
};

/// The rows begin ... end - 1 of a pass over the data; see loss/loss_pass.hpp.
struct LossPass {
  LossShape shape;
  LossRows rows;
  const double* w;
  double intercept;
  std::int64_t begin, end;
  double* combined;  ///< alpha_i y_i x_i is added to it
  LossSums sums;     ///< added to as well
};

/// Residuals that move along a line, and how far; one value a row each.
struct LossLine {
  const double* weight;
  const double* shift;  ///< null for 0
  const double* residual;
  const double* change;
  double step;
};

/// The smoothed loss along a line, with its first and its second derivative.
struct LossCurve {
  double value, slope, curvature;
};

/// Steps of the averaged subgradient method, one a row of `order`; see
/// solver/stochastic_descent.hpp.
struct AveragedSteps {
  const double* y;
  const double* target;
  const std::int64_t* order;
  std::int64_t n_order;
  double total_weight;
  double constant;           ///< the feature that carries the intercept, 0 for none
  std::int64_t n_before;     ///< steps made before these
  double harmonic;           ///< 1 + 1/2 + ... + 1/(last step), kept up to date
  double* theta;             ///< with an entry for the constant feature
  double* lagged;            ///< sum of the additions to theta, each times `harmonic` at its time
  std::int64_t* violations;  ///< of each row, counted up
};

/// Steps of the subgradient method at a constant rate; see solver/stochastic_descent.hpp.
struct SteadySteps {
  const double* y;
  const double* target;
  const double* push;  ///< of each row
  const std::int64_t* order;
  std::int64_t n_order;
  double keep;             ///< the share of coef that a step leaves
  double keep_intercept;   ///< the same for the intercept
  double intercept_share;  ///< how much of a push goes to the intercept
  double* coef;
  double scale;  ///< coef stands for scale * coef
  double intercept;
  std::int64_t* violations;  ///< of each row, counted up
};

/// How often each row is drawn in some resamples, resample after resample.
struct CountTable {
  const std::uint8_t* counts;
  std::int64_t n_resamples;
  std::int64_t n_rows;
};

/// Rows in the order of their scores; of rows with one score the negative ones come first.
struct ScoreOrder {
  const std::int64_t* rows;
  const double* is_negative;  ///< 0 or 1
  const double* is_tied;      ///< 1 if the row before has the same score, else 0
};

template <class Rows>
struct RowLoops : PanelLoops<Rows, float>, PanelLoops<Rows, double> {
  /// Sets to 0 what `scatter` wrote to slots.
  void (*forget)(const Rows& rows, const std::int64_t* selected, std::int64_t n_selected,
                 std::int32_t* slots);
  /// out[(i - begin) * k + c] = coef_c . x_i + intercept_c for begin <= i < end
  void (*scores)(const Rows& rows, std::int64_t begin, std::int64_t end, std::int64_t k,
                 const double* coef, const double* intercept, double* out);
  /// out += sum of v_i x_i over begin <= i < end
  void (*add_weighted)(const Rows& rows, std::int64_t begin, std::int64_t end, const double* v,
                       double* out);
  /// out[j] += sum of v_i x_ij^2 over begin <= i < end
  void (*add_weighted_squares)(const Rows& rows, std::int64_t begin, std::int64_t end,
                               const double* v, double* out);
  /// out += sum of v_i (z_i . p) z_i over begin <= i < end, with z_i = (x_i, constant), or x_i if
  /// constant is 0
  void (*add_gram_product)(const Rows& rows, std::int64_t begin, std::int64_t end, const double* v,
                           double constant, const double* p, double* out);
  /// out[i] = |x_i|^2 for begin <= i < end
  void (*sq_norms)(const Rows& rows, std::int64_t begin, std::int64_t end, double* out);
  void (*box_sweep)(const Rows& rows, DualSweep& sweep);
  void (*logistic_sweep)(const Rows& rows, DualSweep& sweep);
  void (*class_sweep)(const Rows& rows, ClassSweep& sweep);
  /// out[(i - begin) * n_classes + k] = the score of class k for begin <= i < end; scratch has room
  /// for `stride`.
  void (*class_scores)(const Rows& rows, std::int64_t begin, std::int64_t end,
                       const ClassHyperplanes& hyperplanes, double* scratch, double* out);
  /// w[j * stride + k] += sum of v[i * stride + k] x_ij over begin <= i < end
  void (*add_class_hyperplanes)(const Rows& rows, std::int64_t begin, std::int64_t end,
                                const double* v, double* w, std::int64_t stride);
  void (*box_joint_sweep)(const Rows& rows, JointSweep& sweep);
  void (*logistic_joint_sweep)(const Rows& rows, JointSweep& sweep);
  /// Returns the number of mistakes.
  std::int64_t (*perceptron_pass)(const Rows& rows, PerceptronPass& pass);
  void (*loss_pass)(const Rows& rows, LossPass& pass);
  void (*averaged_steps)(const Rows& rows, AveragedSteps& steps);
  void (*steady_steps)(const Rows& rows, SteadySteps& steps);
};

template <class T>
struct DenseLoops : RowLoops<DenseRows<T>> {
  /// out[(i - begin) * ld + j] = x_ij for begin <= i < end, 0 <= j < n_cols, as float64
  void (*pack)(const DenseRows<T>& rows, std::int64_t begin, std::int64_t end, double* out,
               std::int64_t ld);
  /// out[j * ld + r] = scale[r] x_ij with i = selected[r], for 0 <= r < n_selected, 0 <= j < n_cols
  void (*pack_transposed)(const DenseRows<T>& rows, const std::int64_t* selected,
                          std::int64_t n_selected, const double* scale, double* out,
                          std::int64_t ld);
  /// The first position in values[0 ... n) that is not finite when it is scaled, or -1.
  std::int64_t (*first_beyond)(const T* values, std::int64_t n, double scale);
};

template <class T, class I>
struct SparseLoops : RowLoops<SparseRows<T, I>>,
                     ScatteredLoops<SparseRows<T, I>, float>,
                     ScatteredLoops<SparseRows<T, I>, double> {
  /// Adds v_i z_i z_i' for the selected rows to the lower triangle of out (row-major, order ld),
  /// with z_i = (x_i, constant), or x_i if constant is 0.
  void (*add_outer)(const SparseRows<T, I>& rows, const std::int64_t* selected,
                    std::int64_t n_selected, const double* v, double constant, double* out,
                    std::int64_t ld);
};

struct HotLoops : DenseLoops<float>,
                  DenseLoops<double>,
                  SparseLoops<float, std::int32_t>,
                  SparseLoops<float, std::int64_t>,
                  SparseLoops<double, std::int32_t>,
                  SparseLoops<double, std::int64_t>,
                  KernelLoops<float>,
                  KernelLoops<double> {
  const char* isa;

  /// RBF values of float64 sums as float32 ones: out[r * ld + c].
  void (*finish_rbf_rounded)(double gamma, const KernelTile<double>& tile, float* out,
                             std::int64_t ld);
  /// Steps of pairs that leave the sum of the betas of each range as it is.
  void (*pair_steps)(PairSteps& steps);
  /// Steps of one variable at a time.
  void (*single_steps)(PairSteps& steps);

  /// What a sweep would find at these scores of all rows, without a move.
  void (*box_look)(const double* scores, DualSweep& sweep);
  void (*logistic_look)(const double* scores, DualSweep& sweep);
  void (*class_look)(const double* scores, ClassSweep& sweep);
  /// One sweep over all points.
  void (*class_steps)(ClassSteps& steps);
  /// out[p] = by how much point p violates the optimality conditions; kernel is not read.
  void (*class_violations)(const ClassSteps& steps, double* out);
  void (*box_joint_look)(const double* scores, JointSweep& sweep);
  /// C += alpha A B': A is m x k, B is n x k, C is m x n, all row-major.
  void (*gemm_nt)(std::int64_t m, std::int64_t n, std::int64_t k, double alpha, const double* a,
                  std::int64_t lda, const double* b, std::int64_t ldb, double* c, std::int64_t ldc);
  /// The same for m = n, in the lower triangle of C; what is above may be changed.
  void (*gemm_nt_lower)(std::int64_t m, std::int64_t k, double alpha, const double* a,
                        std::int64_t lda, const double* b, std::int64_t ldb, double* c,
                        std::int64_t ldc);
  /// A = L L' in place (lower triangle); -1, or the first pivot that is not positive and finite.
  std::int64_t (*factor)(std::int64_t m, double* a, std::int64_t lda);
  /// Each row b of B (m rows of length n <= kTileOrder) becomes the x with L x = b, L lower
  /// triangular.
  void (*solve_rows)(std::int64_t m, std::int64_t n, const double* l, std::int64_t ldl, double* b,
                     std::int64_t ldb);
  /// b becomes the x with L L' x = b.
  void (*solve_factored)(std::int64_t m, const double* l, double* b);

  /// The counts of the words' kPoissonUnits random bytes, as signed numbers: how many of the cuts
  /// are below each, in ascending order. Bytes above all of them are open; their positions go to
  /// `open`, which has room for four more than there are units, in an order that is the same for
  /// all instruction sets. Returns their number.
  std::int64_t (*poisson_counts)(const std::uint64_t* words, const std::int8_t* cuts,
                                 std::uint8_t* counts, std::uint16_t* open);
  std::int64_t (*sum_counts)(const std::uint8_t* counts, std::int64_t n);
  /// The sum over the rows whose `selected` is 255; it is 0 for all others.
  std::int64_t (*sum_selected)(const std::uint8_t* counts, const std::uint8_t* selected,
                               std::int64_t n);
  /// out[r * n_columns + c] = sum of count_ri * columns[c * n_rows + i] over the rows i
  void (*count_sums)(const CountTable& table, const double* columns, std::int64_t n_columns,
                     double* out);
  /// Half the mean difference of two draws over the mean; values ascend, in the given order.
  void (*gini_coefficients)(const CountTable& table, const std::int64_t* order,
                            const double* values, double* out);
  /// The share of pairs of a positive and a negative draw that the score puts in order.
  void (*auc)(const CountTable& table, const ScoreOrder& order, double* out);

  /// out[i] = e^x[i], to within two units in the last place.
  void (*exp)(const double* x, std::int64_t n, double* out);
  /// out[i] = log(1 + x[i]) for x[i] > -1, to within two units in the last place.
  void (*log1p)(const double* x, std::int64_t n, double* out);
  /// Writes alpha and curvature of the rows begin ... end - 1 by their residuals, and adds to the
  /// sums.
  void (*loss_at)(const LossShape& shape, const LossRows& rows, std::int64_t begin,
                  std::int64_t end, LossSums& sums);
  /// Adds what the rows begin ... end - 1 contribute.
  void (*loss_along)(const LossShape& shape, const LossLine& line, std::int64_t begin,
                     std::int64_t end, LossCurve& curve);
};

}  // namespace hedgerow
