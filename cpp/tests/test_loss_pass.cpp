#include "hedgerow/loss/loss_pass.hpp"

#include <cmath>
#include <limits>

#include "check.hpp"
#include "hedgerow/system/hot.hpp"
#include "samples.hpp"

namespace hedgerow {
extern const HotLoops wide_loops;
}

using namespace hedgerow;
using samples::Sample;
using samples::Sum;
using Values = std::vector<double>;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Calls test(loops) for every set of loops, the widest included.
template <class Test>
static void for_all_loops(Test test) {
  for (const std::string& isa : supported_isas()) test(hot(isa));
  test(wide_loops);
}

// --- e^x and log(1 + x) ---------------------------------------------------------------------------

/// The distance of two neighbours at x; that of the smallest numbers below them.
static double spacing(double x) {
  const double size = std::abs(x);
  return size < std::numeric_limits<double>::min() ? std::numeric_limits<double>::denorm_min()
                                                   : std::nextafter(size, kInfinity) - size;
}

static void within_two_units(const Values& x, const Values& got,
                             long double (*function)(long double)) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto expected = static_cast<double>(function(x[i]));
    if (std::isinf(expected))
      CHECK(got[i] == expected);
    else
      check::near(got[i], expected, 2.0 * spacing(expected));
  }
}

static long double exact_exp(long double x) { return std::exp(x); }
static long double exact_log1p(long double x) { return std::log1p(x); }

TEST(exponentials_are_right_to_two_units_in_the_last_place_everywhere) {
  Values x{0.0,
           -0.0,
           1e-320,
           -1e-320,
           1e-17,
           -1e-17,
           709.7827128933840,
           709.7827128933841,
           710.0,
           1e4,
           1e308,
           kInfinity,
           -708.3964185322641,
           -708.3964185322642,
           -744.4400719213812,
           -745.1332191019411,
           -745.1332191019412,
           -746.0,
           -1e4,
           -kInfinity};
  Philox random(1, 0);
  for (int i = 0; i < 30'000; ++i) {
    x.push_back(1460.0 * random.uniform() - 748.0);
    x.push_back(4.0 * random.uniform() - 2.0);
  }
  for_all_loops([&](const HotLoops& loops) {
    Values got(x.size());
    loops.exp(x.data(), static_cast<std::int64_t>(x.size()), got.data());
    within_two_units(x, got, exact_exp);
  });
}

TEST(logarithms_are_right_to_two_units_in_the_last_place_everywhere) {
  Values x{0.0,
           -0.0,
           5e-324,
           -5e-324,
           1e-300,
           1e-17,
           -1e-17,
           0x1p-53,
           -0x1p-53,
           0x1.8p-53,
           0x1p-52,
           std::sqrt(2.0) - 1.0,
           std::sqrt(0.5) - 1.0,
           -1.0 + 0x1p-53,
           0x1p53,
           0x1p54,
           1e308,
           std::numeric_limits<double>::max(),
           kInfinity};
  Philox random(1, 0);
  for (int i = 0; i < 30'000; ++i) {
    x.push_back(random.uniform());
    x.push_back(1.6 * random.uniform() - 0.9);
    x.push_back(std::exp(1400.0 * random.uniform() - 700.0));
    x.push_back(-std::exp(-40.0 * random.uniform()) * (1.0 - 0x1p-53));
  }
  for_all_loops([&](const HotLoops& loops) {
    Values got(x.size());
    loops.log1p(x.data(), static_cast<std::int64_t>(x.size()), got.data());
    within_two_units(x, got, exact_log1p);
  });
}

TEST(what_is_not_a_number_stays_so) {
  const Values x(9, std::numeric_limits<double>::quiet_NaN());
  for_all_loops([&](const HotLoops& loops) {
    Values got(9, 0.0);
    loops.exp(x.data(), 9, got.data());
    for (const double value : got) CHECK(std::isnan(value));
    loops.log1p(x.data(), 9, got.data());
    for (const double value : got) CHECK(std::isnan(value));
  });
}

// --- Losses ---------------------------------------------------------------------------------------

static const std::vector<LossShape> kShapes{{LossKind::one_sided, true, 0.0, 0.7},
                                            {LossKind::one_sided, false, 0.0, 2.0},
                                            {LossKind::two_sided, true, 0.1, 1.3},
                                            {LossKind::two_sided, false, 0.1, 2.0},
                                            {LossKind::logistic, true, 0.0, 1.0}};

/// Values for rows: weights of 0 among them, and alphas that reach their bounds.
struct Problem {
  Values y, target, weight, shift, residual, alpha, curvature;

  explicit Problem(std::int64_t n)
      : y(samples::values(n, 11)),
        target(samples::values(n, 12)),
        weight(samples::values(n, 13)),
        shift(samples::values(n, 14)),
        residual(y.size(), kInfinity),
        alpha(y.size(), kInfinity),
        curvature(y.size(), kInfinity) {
    for (double& sign : y) sign = sign < 0.0 ? -1.0 : 1.0;
    for (double& c : weight) c = std::abs(c);
  }

  LossRows rows(const LossShape& shape) {
    const bool shifted = shape.kind != LossKind::logistic && shape.bounded;
    return {y.data(),        target.data(), weight.data(),   shifted ? shift.data() : nullptr,
            residual.data(), alpha.data(),  curvature.data()};
  }
};

struct Terms {
  long double alpha, curvature, smooth, value, conjugate;
};

static Terms logistic_terms(long double r, long double c) {
  const long double sigma = 1.0L / (1.0L + std::exp(-r)), value = c * std::log1p(std::exp(r));
  return {c * sigma, c * sigma * (1.0L - sigma), value, value, c * sigma * r - value};
}

/// What loss/loss_pass.hpp says of one row.
static Terms terms(const LossShape& shape, long double r, long double c, long double shift) {
  if (shape.kind == LossKind::logistic) return logistic_terms(r, c);
  if (c == 0.0L) return {};
  const bool two_sided = shape.kind == LossKind::two_sided;
  const long double slope = c * shape.steepness, u = shift + slope * r;
  const long double top = shape.bounded ? c : std::numeric_limits<long double>::infinity();
  const long double size = std::max(two_sided ? std::abs(u) - slope * shape.epsilon : u, 0.0L);
  const long double alpha = std::copysign(std::min(size, top), two_sided ? u : 1.0L);
  const long double excess = std::max(two_sided ? std::abs(r) - shape.epsilon : r, 0.0L);
  const long double tube = two_sided ? shape.epsilon * std::abs(alpha) : 0.0L;
  return {alpha, size > 0.0L && size < top ? slope : 0.0L,
          alpha * r - tube - (alpha - shift) * (alpha - shift) / (2.0L * slope),
          shape.bounded ? c * excess : c * excess * excess,
          shape.bounded ? tube : tube + alpha * alpha / (4.0L * c)};
}

/// A sum over rows is judged by the magnitudes of what is added and subtracted for each of them.
struct JudgedSum {
  long double value = 0.0L, magnitude = 0.0L;

  void add(long double term, long double size) {
    value += term;
    magnitude += size;
  }

  void judge(double actual, std::int64_t n,
             std::source_location where = std::source_location::current()) const {
    const double bound = static_cast<double>(n + 20) * std::numeric_limits<double>::epsilon();
    check::near(actual, static_cast<double>(value), bound * static_cast<double>(magnitude), where);
  }
};

static void judge_losses(const LossShape& shape, Problem& problem, const LossSums& sums) {
  const LossRows rows = problem.rows(shape);
  JudgedSum balance, smooth, value, gain;
  const auto n = static_cast<std::int64_t>(problem.y.size());
  for (std::int64_t i = 0; i < n; ++i) {
    const double r = rows.residual[i], c = rows.weight[i], s = rows.shift ? rows.shift[i] : 0.0;
    const Terms expected = terms(shape, r, c, s);
    const double size = (1.0 + std::abs(r)) * (1.0 + std::abs(s)), scale = size * size;
    check::near(rows.alpha[i], static_cast<double>(expected.alpha), 1e-15 * scale);
    check::near(rows.curvature[i], static_cast<double>(expected.curvature), 1e-15 * scale);
    balance.add(expected.alpha * rows.y[i], scale);
    smooth.add(expected.smooth, c > 0.0 ? scale * (1.0 + s * s / c) : 0.0);
    value.add(expected.value, scale);
    gain.add(rows.target[i] * expected.alpha - expected.conjugate, scale * 2.0);
  }
  balance.judge(sums.balance, n);
  smooth.judge(sums.smooth, n);
  value.judge(sums.value, n);
  gain.judge(sums.gain, n);
}

static void judge_residuals(const Sample& sample, const Problem& problem, const Values& w,
                            double intercept) {
  for (std::int64_t i = 0; i < sample.n; ++i) {
    Sum expected;
    expected.add(problem.target[i]);
    expected.add(-problem.y[i] * intercept);
    for (std::int64_t j = 0; j < sample.d; ++j)
      expected.add(-problem.y[i] * sample.at(i, j) * w[j]);
    expected.judge(problem.residual[i]);
  }
}

static void judge_pass(const Sample& sample, const LossShape& shape, const Matrix& matrix) {
  Problem problem(sample.n);
  const Values w = samples::values(sample.d, 2);
  Values combined(w.size(), kInfinity);
  const LossSums sums = loss_pass(matrix, shape, problem.rows(shape), w, 0.25, combined, 2);
  judge_residuals(sample, problem, w, 0.25);
  judge_losses(shape, problem, sums);
  for (std::int64_t j = 0; j < sample.d; ++j) {
    Sum expected;
    for (std::int64_t i = 0; i < sample.n; ++i)
      expected.add(problem.alpha[i] * problem.y[i] * sample.at(i, j));
    expected.judge(combined[j]);
  }
}

TEST(a_loss_pass_is_what_its_formulas_say_in_all_formats_and_shapes) {
  std::vector<Sample> all;
  for (const std::int64_t n : samples::kOddSizes)
    for (const std::int64_t d : samples::kOddSizes) all.emplace_back(n, d);
  all.emplace_back(2100, 3);
  all.emplace_back(1100, 101);
  all.emplace_back(19, 1500);
  for (const Sample& sample : all)
    for (const LossShape& shape : kShapes)
      for (const Matrix& matrix : sample.formats()) judge_pass(sample, shape, matrix);
}

TEST(losses_of_given_residuals_are_what_their_formulas_say_with_all_loops) {
  for_all_loops([](const HotLoops& loops) {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 130})
      for (const LossShape& shape : kShapes) {
        Problem problem(n);
        problem.residual = samples::values(n, 15);
        LossSums sums{};
        loops.loss_at(shape, problem.rows(shape), 0, n, sums);
        judge_losses(shape, problem, sums);
      }
  });
}

TEST(the_loss_along_a_line_is_the_loss_at_its_points) {
  constexpr std::int64_t kRows = 9001;
  for (const LossShape& shape : kShapes) {
    Problem problem(kRows);
    const Values start = samples::values(kRows, 15), change = samples::values(kRows, 16);
    const LossRows rows = problem.rows(shape);
    const LossLine line{rows.weight, rows.shift, start.data(), change.data(), -0.75};
    const LossCurve curve = loss_along(shape, line, kRows, 2);
    for (std::int64_t i = 0; i < kRows; ++i) problem.residual[i] = start[i] - 0.75 * change[i];
    const LossSums sums = loss_at(shape, rows, kRows, 2);
    Sum slope, curvature;
    for (std::int64_t i = 0; i < kRows; ++i) {
      slope.add(problem.alpha[i] * change[i]);
      curvature.add(problem.curvature[i] * change[i] * change[i]);
    }
    slope.judge(curve.slope);
    curvature.judge(curve.curvature);
    check::near(curve.value, sums.smooth, 1e-11 * std::abs(sums.smooth));
  }
}

TEST(a_loss_pass_gives_the_same_bits_for_any_number_of_threads) {
  const Sample sample(5000, 37);
  const Values w = samples::values(37, 2);
  for (const LossShape& shape : kShapes)
    for (const Matrix& matrix : sample.formats()) {
      const auto results = [&](int n_threads) {
        Problem problem(5000);
        Values all(37, kInfinity);
        const LossSums sums =
            loss_pass(matrix, shape, problem.rows(shape), w, 0.25, all, n_threads);
        all.insert(all.end(), {sums.balance, sums.smooth, sums.value, sums.gain});
        for (const Values* part : {&problem.residual, &problem.alpha, &problem.curvature})
          all.insert(all.end(), part->begin(), part->end());
        return all;
      };
      const Values one = results(1);
      CHECK(one == results(2) && one == results(3));
    }
}

TEST(rows_whose_alpha_is_0_are_not_added) {
  Values x = samples::values(40 * 7, 1);
  for (std::int64_t j = 0; j < 7; ++j) x[3 * 7 + j] = kInfinity;
  const Sample sample(40, 7, x);
  const LossShape squared{LossKind::one_sided, false, 0.0, 2.0};
  for (const Matrix& matrix : sample.formats()) {
    Problem problem(40);
    problem.y[3] = 1.0;
    Values w(7, 1.0), combined(7, kInfinity);
    loss_pass(matrix, squared, problem.rows(squared), w, 0.0, combined, 1);
    CHECK(problem.residual[3] == -kInfinity && problem.alpha[3] == 0.0);
    for (const double entry : combined) CHECK(std::isfinite(entry));
  }
}
