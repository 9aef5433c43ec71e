// Every instruction set against the baseline: results differ by the rounding of sums alone.
#include "hedgerow/system/hot.hpp"

#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

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

/// One sweep: w, the rows' beta, and what the sweep says of itself.
template <class Rows>
static Values sweep_results(void (*sweep_rows)(const Rows&, DualSweep&), const Rows& rows) {
  std::vector<DualPoint> points;
  std::vector<std::int64_t> order;
  std::vector<std::uint8_t> active(static_cast<std::size_t>(rows.n_rows), 1);
  for (std::int64_t i = 0; i < rows.n_rows; ++i) {
    const double y = i % 3 ? 1.0 : -1.0;
    points.push_back({y * 0.01, y, y * 0.5, 1.0 / (0.2 * static_cast<double>(rows.n_cols) + 0.3)});
    order.push_back((i * 7) % rows.n_rows);
  }
  Values w(static_cast<std::size_t>(rows.n_cols), 0.0);
  DualSweep sweep{
      points.data(), w.data(), order.data(), rows.n_rows, active.data(), {0.1, 0.5, 1.0, true},
      0.2,           0.1,      0.0,          1e9,         -1e9,          0.0,
      0.0,           0};
  sweep_rows(rows, sweep);
  for (const DualPoint& point : points) w.push_back(point.beta);
  w.insert(w.end(), {sweep.excess, sweep.slope_max, sweep.slope_min});
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
              const RowLoops<std::decay_t<decltype(rows)>>&fast = loops, &slow = hot("baseline");
              agree(sweep_results(fast.box_sweep, rows), sweep_results(slow.box_sweep, rows));
              agree(sweep_results(fast.logistic_sweep, rows),
                    sweep_results(slow.logistic_sweep, rows));
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

/// Counts as they come up in resamples, and some that hardly ever do.
static std::vector<std::uint8_t> some_counts(std::int64_t n) {
  std::vector<std::uint8_t> counts(static_cast<std::size_t>(n));
  Philox random(11, 0);
  for (std::uint8_t& count : counts)
    count = static_cast<std::uint8_t>(random.below(16) ? random.below(4) : random.below(256));
  return counts;
}

TEST(poisson_counts_and_their_open_units_are_the_same) {
  const std::int8_t cuts[kPoissonCuts] = {-33, 60, 107, 122, 125};
  std::vector<std::uint64_t> words(kPoissonUnits / 8);
  const auto drawn = [&](const HotLoops& loops) {
    std::vector<std::uint8_t> counts(kPoissonUnits);
    std::vector<std::uint16_t> open(kPoissonUnits + 4);
    open.resize(static_cast<std::size_t>(
        loops.poisson_counts(words.data(), cuts, counts.data(), open.data())));
    return std::pair(counts, open);
  };
  for (std::uint64_t stream = 0; stream < 20; ++stream) {
    Philox(3, stream).fill(words);
    if (stream == 0) words.assign(words.size(), 0x7f7f7f7f7f7f7f7fu);  // all open
    const auto expected = drawn(hot("baseline"));
    const auto* bytes = reinterpret_cast<const unsigned char*>(words.data());
    std::size_t n_open = 0;
    for (std::size_t i = 0; i < kPoissonUnits; ++i) {
      int above = 0;
      for (const std::int8_t cut : cuts) above += static_cast<std::int8_t>(bytes[i]) > cut;
      CHECK(expected.first[i] == above);
      n_open += above == kPoissonCuts;
    }
    CHECK(expected.second.size() == n_open);
    for (const std::uint16_t unit : expected.second) CHECK(expected.first[unit] == kPoissonCuts);
    for_loops([&](const HotLoops& loops) { CHECK(drawn(loops) == expected); });
  }
}

TEST(sums_of_counts_are_exact) {
  const auto sums = [](const HotLoops& loops, const std::vector<std::uint8_t>& counts) {
    const std::vector<std::uint8_t> all(counts.size(), 255), none(counts.size(), 0);
    const auto n = static_cast<std::int64_t>(counts.size());
    const std::int64_t expected = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    CHECK(loops.sum_counts(counts.data(), n) == expected);
    CHECK(loops.sum_selected(counts.data(), all.data(), n) == expected);
    CHECK(loops.sum_selected(counts.data(), none.data(), n) == 0);
  };
  for (const std::int64_t n : {0, 1, 15, 63, 64, 65, 1000, 20'000}) {
    sums(hot("baseline"), some_counts(n));
    sums(hot("baseline"), std::vector<std::uint8_t>(static_cast<std::size_t>(n), 255));
    for_loops([&](const HotLoops& loops) {
      sums(loops, some_counts(n));
      sums(loops, std::vector<std::uint8_t>(static_cast<std::size_t>(n), 255));
    });
  }
}

TEST(column_sums_of_counts_agree) {
  for (const std::int64_t n : {1, 7, 511, 512, 513, 1100})
    for (const std::int64_t n_columns : {1, 2, 3, 4, 5, 9}) {
      constexpr std::int64_t kResamples = 3;
      const auto counts = some_counts(kResamples * n);
      const Values columns = samples::values(n_columns * n, 1);
      Values expected;
      for (std::int64_t r = 0; r < kResamples; ++r)
        for (std::int64_t c = 0; c < n_columns; ++c) {
          double sum = 0.0;
          for (std::int64_t i = 0; i < n; ++i) sum += counts[r * n + i] * columns[c * n + i];
          expected.push_back(sum);
        }
      const auto agree_with = [&](const HotLoops& loops) {
        Values sums(expected.size());
        loops.count_sums({counts.data(), kResamples, n}, columns.data(), n_columns, sums.data());
        // Up to 1100 terms of at most 255, in another order.
        for (std::size_t e = 0; e < sums.size(); ++e)
          check::near(sums[e], expected[e], 1100 * 255 * 1e-13);
      };
      agree_with(hot("baseline"));
      for_loops(agree_with);
    }
}

TEST(statistics_of_ranks_agree) {
  constexpr std::int64_t kRows = 101;
  for (const std::int64_t n_resamples : {1, 2, 3, 8, 9}) {
    const auto counts = some_counts(n_resamples * kRows);
    const CountTable table{counts.data(), n_resamples, kRows};
    std::vector<std::int64_t> order;
    Values values, is_negative, is_tied;
    for (std::int64_t i = 0; i < kRows; ++i) {
      order.push_back((i * 7) % kRows);
      values.push_back(static_cast<double>(i));
      is_negative.push_back(i % 3 == 0);
      is_tied.push_back(i % 2);
    }
    const auto results = [&](const HotLoops& loops) {
      const auto size = static_cast<std::size_t>(n_resamples);
      Values gini(size), auc(size);
      loops.gini_coefficients(table, order.data(), values.data(), gini.data());
      loops.auc(table, {order.data(), is_negative.data(), is_tied.data()}, auc.data());
      gini.insert(gini.end(), auc.begin(), auc.end());
      return gini;
    };
    for_loops([&](const HotLoops& loops) { agree(results(loops), results(hot("baseline"))); });
  }
}

TEST(an_unknown_instruction_set_is_refused_with_those_that_run_here) {
  check::throws<std::invalid_argument>([] { hot("mmx"); }, "use one of baseline");
  check::throws<std::invalid_argument>([] { hot(""); }, "''");
  CHECK(supported_isas().front() == "baseline");
  for (const std::string& isa : supported_isas()) CHECK(hot(isa).isa == isa);
}
