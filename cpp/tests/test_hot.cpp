// Every instruction set against the baseline: results differ by the rounding of sums alone.
#include "hedgerow/hot.hpp"

#include <limits>
#include <stdexcept>

#include "check.hpp"
#include "samples.hpp"

namespace hedgerow {
extern const HotLoops wide_loops;
}

using namespace hedgerow;
using samples::Sample;
using Values = std::vector<double>;

static const std::vector<std::int64_t> kLengths{0, 1,  2,  3,  4,  5,  7,   8,
                                                9, 15, 16, 17, 31, 65, 130, 200};

/// Calls test(loops) for every set of loops but the baseline, the widest included.
template <class Test>
static void for_loops(Test test) {
  for (const std::string& isa : supported_isas())
    if (isa != "baseline") test(hot(isa));
  test(wide_loops);
}

/// All values are below 1 in magnitude, and sums have at most a few hundred terms.
static void agree(const Values& actual, const Values& expected,
                  std::source_location where = std::source_location::current()) {
  for (std::size_t e = 0; e < expected.size(); ++e)
    check::near(actual[e], expected[e], 500 * 300 * std::numeric_limits<double>::epsilon(), where);
}

template <class Rows>
static Values row_results(const HotLoops& all, const Rows& rows) {
  const RowLoops<Rows>& loops = all;
  const Values coef = samples::values(2 * rows.n_cols, 2), v = samples::values(rows.n_rows, 3);
  const Values intercept{0.5, -1};
  Values scores(static_cast<std::size_t>(2 * rows.n_rows)), norms(v.size());
  Values sum(static_cast<std::size_t>(rows.n_cols), 0.25);
  loops.scores(rows, 0, rows.n_rows, 2, coef.data(), intercept.data(), scores.data());
  loops.sq_norms(rows, 0, rows.n_rows, norms.data());
  loops.add_weighted(rows, 0, rows.n_rows, v.data(), sum.data());
  scores.insert(scores.end(), norms.begin(), norms.end());
  scores.insert(scores.end(), sum.begin(), sum.end());
  return scores;
}

template <class Rows>
static Values sweep_results(const HotLoops& all, const Rows& rows) {
  const RowLoops<Rows>& loops = all;
  std::vector<DualPoint> points;
  std::vector<std::int64_t> order;
  std::vector<std::uint8_t> active(static_cast<std::size_t>(rows.n_rows), 1);
  for (std::int64_t i = 0; i < rows.n_rows; ++i) {
    points.push_back({0.0, 0.5, 0.1, 1.0 / (0.2 * static_cast<double>(rows.n_cols) + 0.3),
                      i % 3 ? 1.0 : -1.0});
    order.push_back((i * 7) % rows.n_rows);
  }
  Values w(static_cast<std::size_t>(rows.n_cols), 0.0);
  DualSweep sweep{points.data(), w.data(), order.data(), rows.n_rows, active.data(), 0.2,
                  0.1, 0.0, 1e9, -1e9, 0.0, 0.0, 0};
  loops.dual_sweep(rows, sweep);
  for (const DualPoint& point : points) w.push_back(point.alpha);
  w.insert(w.end(), {sweep.label_alpha, sweep.pg_max, sweep.pg_min});
  return w;
}

TEST(row_loops_agree_in_all_formats_and_lengths) {
  for_loops([](const HotLoops& loops) {
    for (const std::int64_t d : kLengths) {
      const Sample sample(23, d);
      for (const Matrix& matrix : sample.formats())
        std::visit(
            [&](const auto& rows) {
              agree(row_results(loops, rows), row_results(hot("baseline"), rows));
              agree(sweep_results(loops, rows), sweep_results(hot("baseline"), rows));
            },
            matrix);
    }
  });
}

template <class T>
static Values packed(const DenseLoops<T>& loops, const DenseRows<T>& rows) {
  std::vector<std::int64_t> selected;
  for (std::int64_t i = 0; i < rows.n_rows; i += 1 + i % 3) selected.push_back(i);
  const std::int64_t ld = std::max(rows.n_rows, rows.n_cols) + 2;
  const Values scale = samples::values(rows.n_rows, 5);
  Values out(static_cast<std::size_t>(ld * (rows.n_rows + rows.n_cols)), -5.0);
  loops.pack(rows, 0, rows.n_rows, out.data(), ld);
  loops.pack_transposed(rows, selected.data(), static_cast<std::int64_t>(selected.size()),
                        scale.data(), out.data() + ld * rows.n_rows, ld);
  return out;
}

TEST(packing_is_exact) {
  for_loops([](const HotLoops& loops) {
    for (const std::int64_t n : kLengths)
      for (const std::int64_t d : kLengths) {
        const Sample sample(n, d);
        const auto singles = std::get<0>(sample.formats()[0]);
        const auto doubles = std::get<1>(sample.formats()[1]);
        const Values expected = packed<double>(hot("baseline"), doubles);
        CHECK(packed<double>(loops, doubles) == expected);
        CHECK(packed<float>(loops, singles) == expected);
      }
  });
}

TEST(outer_products_agree) {
  const Sample sample(30, 19);
  const std::vector<std::int64_t> selected{0, 1, 5, 7, 29};
  const Values v = samples::values(30, 9);
  for_loops([&](const HotLoops& loops) {
    const auto rows = std::get<4>(sample.formats()[4]);
    const auto product = [&](const SparseLoops<double, std::int32_t>& sparse) {
      Values out(20 * 20, 0.0);
      sparse.add_outer(rows, selected.data(), 5, v.data(), 1.5, out.data(), 20);
      return out;
    };
    agree(product(loops), product(hot("baseline")));
  });
}

TEST(matrix_products_agree_at_every_edge) {
  for_loops([](const HotLoops& loops) {
    for (const std::int64_t m : {0, 1, 2, 3, 4, 5, 9})
      for (const std::int64_t n : {0, 1, 2, 3, 4, 13, 26})
        for (const std::int64_t k : {0, 1, 3, 8, 17, 192, 205}) {
          const Values a = samples::values(m * k, 1), b = samples::values(n * k, 2);
          const auto product = [&](const HotLoops& either) {
            Values c(static_cast<std::size_t>(m * n), 0.5);
            either.gemm_nt(m, n, k, -1.0, a.data(), k, b.data(), k, c.data(), n);
            return c;
          };
          agree(product(loops), product(hot("baseline")));
        }
  });
}

TEST(the_lower_triangle_of_a_product_is_that_of_the_whole) {
  for_loops([](const HotLoops& loops) {
    for (const std::int64_t m : kLengths)
      for (const std::int64_t k : {1, 17, 205}) {
        const Values a = samples::values(m * k, 1), b = samples::values(m * k, 2);
        Values whole(static_cast<std::size_t>(m * m), 0.5), lower = whole;
        loops.gemm_nt(m, m, k, 1.0, a.data(), k, b.data(), k, whole.data(), m);
        loops.gemm_nt_lower(m, k, 1.0, a.data(), k, b.data(), k, lower.data(), m);
        for (std::int64_t i = 0; i < m; ++i)
          for (std::int64_t j = 0; j <= i; ++j) CHECK(lower[i * m + j] == whole[i * m + j]);
      }
  });
}

/// L L' with a unit-like L: its diagonal is about 2, so that solving with it stays tame.
static Values triangle(std::int64_t m) {
  Values l = samples::values(m * m, 3);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < m; ++j)
      l[i * m + j] = j < i ? l[i * m + j] / static_cast<double>(m) : (i == j ? 2.0 : 0.0);
  return l;
}

TEST(triangular_loops_agree) {
  for_loops([](const HotLoops& loops) {
    for (const std::int64_t m : {1, 2, 5, 17, 65, 96}) {
      const Values l = triangle(m), right = samples::values(70 * m, 4);
      const auto solved = [&](const HotLoops& either) {
        Values b = right, x(right.begin(), right.begin() + m), a(static_cast<std::size_t>(m * m));
        either.solve_rows(70, m, l.data(), m, b.data(), m);
        either.solve_factored(m, l.data(), x.data());
        either.gemm_nt(m, m, m, 1.0, l.data(), m, l.data(), m, a.data(), m);
        CHECK(either.factor(m, a.data(), m) == -1);
        b.insert(b.end(), x.begin(), x.end());
        for (std::int64_t i = 0; i < m; ++i)
          b.insert(b.end(), a.begin() + i * m, a.begin() + i * m + i + 1);
        return b;
      };
      agree(solved(loops), solved(hot("baseline")));
    }
  });
}

TEST(an_unknown_instruction_set_is_refused_with_those_that_run_here) {
  check::throws<std::invalid_argument>([] { hot("mmx"); }, "use one of baseline");
  check::throws<std::invalid_argument>([] { hot(""); }, "''");
  CHECK(supported_isas().front() == "baseline");
  for (const std::string& isa : supported_isas()) CHECK(hot(isa).isa == isa);
}
