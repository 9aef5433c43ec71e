#include "hedgerow/data/algebra.hpp"

#include <limits>
#include <utility>

#include "check.hpp"
#include "samples.hpp"

using hedgerow::Matrix;
using samples::kOddSizes;
using samples::Sample;
using samples::Sum;

/// Calls test(sample) for odd shapes, and for a few large enough to be cut into several blocks.
template <class Test>
static void for_shapes(Test test) {
  for (const std::int64_t n : kOddSizes)
    for (const std::int64_t d : kOddSizes) test(Sample(n, d));
  test(Sample(2100, 3));
  test(Sample(1100, 101));
}

static std::vector<double> blank(std::int64_t size) {
  return std::vector<double>(static_cast<std::size_t>(size),
                             std::numeric_limits<double>::quiet_NaN());
}

TEST(scores_are_dot_products_plus_the_intercept) {
  for_shapes([](const Sample& sample) {
    constexpr std::int64_t k = 3;
    const std::vector<double> coef = samples::values(k * sample.d, 2), intercept{0.5, 0, -2};
    std::vector<Sum> expected(static_cast<std::size_t>(sample.n * k));
    for (std::int64_t i = 0; i < sample.n; ++i)
      for (std::int64_t c = 0; c < k; ++c) {
        expected[i * k + c].add(intercept[c]);
        for (std::int64_t j = 0; j < sample.d; ++j)
          expected[i * k + c].add(sample.at(i, j) * coef[c * sample.d + j]);
      }
    for (const Matrix& matrix : sample.formats()) {
      std::vector<double> out = blank(sample.n * k);
      hedgerow::scores(matrix, coef, intercept, out, 2);
      for (std::size_t e = 0; e < out.size(); ++e) expected[e].judge(out[e]);
    }
  });
}

TEST(the_weighted_row_sum_is_the_transposed_product) {
  for_shapes([](const Sample& sample) {
    const std::vector<double> v = samples::values(sample.n, 3);
    std::vector<Sum> expected(static_cast<std::size_t>(sample.d));
    for (std::int64_t i = 0; i < sample.n; ++i)
      for (std::int64_t j = 0; j < sample.d; ++j) expected[j].add(v[i] * sample.at(i, j));
    for (const Matrix& matrix : sample.formats()) {
      std::vector<double> out = blank(sample.d);
      hedgerow::weighted_row_sum(matrix, v, out, 2);
      for (std::size_t j = 0; j < out.size(); ++j) expected[j].judge(out[j]);
    }
  });
}

TEST(row_sq_norms_are_sums_of_squares) {
  for_shapes([](const Sample& sample) {
    for (const Matrix& matrix : sample.formats()) {
      std::vector<double> out = blank(sample.n);
      hedgerow::row_sq_norms(matrix, out, 2);
      for (std::int64_t i = 0; i < sample.n; ++i) {
        Sum expected;
        for (std::int64_t j = 0; j < sample.d; ++j) expected.add(sample.at(i, j) * sample.at(i, j));
        expected.judge(out[i]);
      }
    }
  });
}

TEST(column_counts_and_row_maxima_see_all_values_but_0) {
  for_shapes([](const Sample& sample) {
    std::vector<double> v(static_cast<std::size_t>(sample.d));
    for (std::int64_t j = 0; j < sample.d; ++j) v[j] = static_cast<double>((j * 7) % 5) - 1.0;
    for (const Matrix& matrix : sample.formats()) {
      std::vector<std::int64_t> counts(static_cast<std::size_t>(sample.d), -1);
      std::vector<double> maxima = blank(sample.n);
      hedgerow::column_counts(matrix, counts);
      hedgerow::row_maxima(matrix, v, maxima);
      std::vector<std::int64_t> expected(static_cast<std::size_t>(sample.d), 0);
      for (std::int64_t i = 0; i < sample.n; ++i) {
        double largest = 0.0;
        for (std::int64_t j = 0; j < sample.d; ++j) {
          if (sample.at(i, j) == 0.0) continue;
          ++expected[j];
          largest = std::max(largest, v[j]);
        }
        CHECK(maxima[i] == largest);
      }
      CHECK(counts == expected);
    }
  });
}

/// sum of v_i z_i z_i', the obvious way.
static std::vector<Sum> naive_gram(const Sample& sample, const std::vector<double>& v,
                                   double constant) {
  const std::int64_t order = sample.d + (constant != 0.0);
  const auto z = [&](std::int64_t i, std::int64_t j) {
    return j < sample.d ? sample.at(i, j) : constant;
  };
  std::vector<Sum> sums(static_cast<std::size_t>(order * order));
  for (std::int64_t i = 0; i < sample.n; ++i)
    for (std::int64_t j = 0; j < order; ++j)
      for (std::int64_t k = 0; k < order; ++k)
        sums[j * order + k].add(static_cast<long double>(v[i]) * z(i, j) * z(i, k));
  return sums;
}

TEST(gram_is_the_sum_of_weighted_outer_products) {
  for (const double constant : {0.0, 2.5})
    for_shapes([=](const Sample& sample) {
      const std::vector<double> v = samples::values(sample.n, 4);
      const std::vector<Sum> expected = naive_gram(sample, v, constant);
      for (const Matrix& matrix : sample.formats()) {
        std::vector<double> out = blank(static_cast<std::int64_t>(expected.size()));
        hedgerow::gram(matrix, v, constant, out, 2);
        for (std::size_t e = 0; e < out.size(); ++e) expected[e].judge(out[e]);
      }
    });
}

TEST(gram_times_is_the_product_with_gram) {
  for (const double constant : {0.0, 2.5})
    for_shapes([=](const Sample& sample) {
      const std::int64_t order = sample.d + (constant != 0.0);
      const std::vector<double> v = samples::values(sample.n, 4), p = samples::values(order, 5);
      std::vector<Sum> expected(static_cast<std::size_t>(order));
      const auto z = [&](std::int64_t i, std::int64_t j) {
        return j < sample.d ? sample.at(i, j) : constant;
      };
      for (std::int64_t i = 0; i < sample.n; ++i)
        for (std::int64_t j = 0; j < order; ++j)
          for (std::int64_t k = 0; k < order; ++k)
            expected[j].add(static_cast<long double>(v[i]) * z(i, j) * z(i, k) * p[k]);
      for (const Matrix& matrix : sample.formats()) {
        std::vector<double> out = blank(order);
        hedgerow::gram_times(matrix, v, constant, p, out, 2);
        for (std::size_t j = 0; j < out.size(); ++j) expected[j].judge(out[j]);
      }
    });
}

TEST(weighted_square_sum_is_the_diagonal_of_gram) {
  for_shapes([](const Sample& sample) {
    const std::vector<double> v = samples::values(sample.n, 4);
    const std::vector<Sum> expected = naive_gram(sample, v, 0.0);
    for (const Matrix& matrix : sample.formats()) {
      std::vector<double> out = blank(sample.d);
      hedgerow::weighted_square_sum(matrix, v, out, 2);
      for (std::int64_t j = 0; j < sample.d; ++j) expected[j * sample.d + j].judge(out[j]);
    }
  });
}

TEST(gram_does_not_read_rows_of_weight_0) {
  std::vector<double> x = samples::values(40 * 7, 1);
  std::vector<double> v(40, 1.0);
  for (std::int64_t j = 0; j < 7; ++j) x[3 * 7 + j] = std::numeric_limits<double>::infinity();
  v[3] = 0.0;
  const Sample sample(40, 7, x);
  for (const Matrix& matrix : sample.formats()) {
    std::vector<double> out = blank(8 * 8);
    hedgerow::gram(matrix, v, 1.0, out, 1);
    for (const double entry : out) CHECK(std::isfinite(entry));
  }
}

TEST(gram_and_row_gram_are_exactly_symmetric) {
  const Sample sample(130, 101);
  for (const Matrix& matrix : sample.formats()) {
    std::vector<double> by_columns = blank(101 * 101), by_rows = blank(130 * 130);
    hedgerow::gram(matrix, samples::values(130, 4), 0.0, by_columns, 1);
    hedgerow::row_gram(matrix, by_rows, 1);
    for (std::int64_t i = 0; i < 101; ++i)
      for (std::int64_t j = 0; j < i; ++j)
        CHECK(by_columns[i * 101 + j] == by_columns[j * 101 + i]);
    for (std::int64_t i = 0; i < 130; ++i)
      for (std::int64_t j = 0; j < i; ++j) CHECK(by_rows[i * 130 + j] == by_rows[j * 130 + i]);
  }
}

static void judge_row_gram(const Sample& sample) {
  std::vector<Sum> expected(static_cast<std::size_t>(sample.n * sample.n));
  for (std::int64_t i = 0; i < sample.n; ++i)
    for (std::int64_t k = 0; k < sample.n; ++k)
      for (std::int64_t j = 0; j < sample.d; ++j)
        expected[i * sample.n + k].add(sample.at(i, j) * sample.at(k, j));
  for (const Matrix& matrix : sample.formats()) {
    std::vector<double> out = blank(sample.n * sample.n);
    hedgerow::row_gram(matrix, out, 2);
    for (std::size_t e = 0; e < out.size(); ++e) expected[e].judge(out[e]);
  }
}

TEST(row_gram_holds_the_products_of_all_pairs_of_rows) {
  for (const std::int64_t n : kOddSizes)
    for (const std::int64_t d : kOddSizes) judge_row_gram(Sample(n, d));
  judge_row_gram(Sample(203, 401));
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(the_first_value_that_is_not_finite_is_found_wherever_it_is) {
  constexpr std::int64_t kRows = 90, kCols = 60;
  for (const double bad : {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()})
    for (const std::int64_t at : {std::int64_t{0}, std::int64_t{61}, kRows * kCols - 1}) {
      std::vector<double> x(kRows * kCols, 1.0);
      x[at] = bad;
      if (at < kCols * (kRows - 1)) x[kRows * kCols - 1] = bad;
      const Sample sample(kRows, kCols, x);
      const std::vector<Matrix> formats = sample.formats();
      for (std::size_t f = 0; f < formats.size(); ++f) {
        // Dense rows are one value longer than they use; sparse ones may be stored backwards.
        const std::int64_t row = at / kCols, column = at % kCols;
        const std::int64_t stored = f < 2 ? row * (kCols + 1) + column
                                          : row * kCols + (row % 2 ? kCols - 1 - column : column);
        CHECK(hedgerow::first_beyond(formats[f], kInfinity) == stored);
      }
    }
}

TEST(finite_values_however_large_are_finite) {
  std::vector<double> x(5000, static_cast<double>(std::numeric_limits<float>::max()));
  x[7] = std::numeric_limits<float>::denorm_min();
  const Sample sample(50, 100, x);
  for (const Matrix& matrix : sample.formats())
    CHECK(hedgerow::first_beyond(matrix, kInfinity) == -1);
}

TEST(a_value_beyond_the_largest_is_found) {
  constexpr double kLarge = 0x1p100;
  std::vector<double> x(5000, kLarge);
  x[4321] = -1.5 * kLarge;
  const Sample sample(50, 100, x);
  const std::vector<Matrix> formats = sample.formats();
  CHECK(hedgerow::first_beyond(formats[0], kLarge) == 43 * 101 + 21);
  CHECK(hedgerow::first_beyond(formats[0], 2 * kLarge) == -1);
}

TEST(results_are_the_same_bits_for_any_number_of_threads) {
  const Sample sample(3000, 111);
  const std::vector<double> v = samples::values(3000, 4), coef = samples::values(111, 2);
  for (const Matrix& matrix : sample.formats()) {
    const auto results = [&](int n_threads) {
      std::vector<double> all = blank(3000 + 111 + 112 * 112 + 3000);
      const std::span<double> out(all);
      hedgerow::scores(matrix, coef, std::vector<double>{0.5}, out.first(3000), n_threads);
      hedgerow::weighted_row_sum(matrix, v, out.subspan(3000, 111), n_threads);
      hedgerow::gram(matrix, v, 1.0, out.subspan(3111, 112 * 112), n_threads);
      hedgerow::row_sq_norms(matrix, out.last(3000), n_threads);
      return all;
    };
    const std::vector<double> one = results(1);
    CHECK(one == results(2) && one == results(3));
  }
  const Sample wide(300, 211);
  for (const Matrix& matrix : wide.formats()) {
    std::vector<double> one = blank(300 * 300), three = one;
    hedgerow::row_gram(matrix, one, 1);
    hedgerow::row_gram(matrix, three, 3);
    CHECK(one == three);
  }
}
