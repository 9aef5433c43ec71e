#include <limits>

#include "check.hpp"
#include "hedgerow/data/algebra.hpp"
#include "samples.hpp"

using hedgerow::cholesky;
using hedgerow::cholesky_solve;

static const std::vector<std::int64_t> kOrders{0, 1, 2, 3, 17, 65, 95, 96, 97, 130, 289};

/// X X' + I for a random X, so that every eigenvalue is at least 1.
static std::vector<double> positive_definite(std::int64_t m) {
  std::vector<double> a(static_cast<std::size_t>(m * m));
  const samples::Sample sample(m, m + 3, 5);
  hedgerow::row_gram(sample.formats()[1], a, 1);
  for (std::int64_t i = 0; i < m; ++i) a[i * m + i] += 1.0;
  return a;
}

TEST(the_factor_times_its_transpose_is_the_matrix) {
  for (const std::int64_t m : kOrders) {
    const std::vector<double> a = positive_definite(m);
    std::vector<double> l = a;
    CHECK(cholesky(l, m, 2) == -1);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < m; ++j) {
        double product = 0.0;
        for (std::int64_t k = 0; k < m; ++k) product += l[i * m + k] * l[j * m + k];
        // Backward error: (m + 1) epsilon sqrt(a_ii a_jj), twice, for factor and product.
        const double scale = std::sqrt(a[i * m + i] * a[j * m + j]);
        check::near(product, a[i * m + j],
                    2 * (m + 1) * std::numeric_limits<double>::epsilon() * scale);
        if (j > i) CHECK(l[i * m + j] == 0.0);
      }
  }
}

TEST(only_the_lower_triangle_is_read) {
  constexpr std::int64_t kOrder = 130;
  std::vector<double> l = positive_definite(kOrder), spoilt = l;
  for (std::int64_t i = 0; i < kOrder; ++i)
    for (std::int64_t j = i + 1; j < kOrder; ++j)
      spoilt[i * kOrder + j] = std::numeric_limits<double>::quiet_NaN();
  CHECK(cholesky(l, kOrder, 1) == -1);
  CHECK(cholesky(spoilt, kOrder, 1) == -1);
  CHECK(l == spoilt);
}

TEST(the_solution_satisfies_the_equations) {
  for (const std::int64_t m : kOrders) {
    const std::vector<double> a = positive_definite(m), b = samples::values(m, 6);
    std::vector<double> l = a, x = b;
    cholesky(l, m, 1);
    cholesky_solve(l, m, x);
    for (std::int64_t i = 0; i < m; ++i) {
      double product = 0.0;
      for (std::int64_t j = 0; j < m; ++j) product += a[i * m + j] * x[j];
      check::near(product, b[i], 1e-10);  // the condition number is below 1e4, epsilon 2e-16
    }
  }
}

TEST(the_first_pivot_that_is_not_positive_and_finite_is_named) {
  for (const double bad : {-1.0, 0.0, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()})
    for (const std::int64_t m : {1, 17, 97, 289})
      for (const std::int64_t at : {std::int64_t{0}, m / 2, m - 1}) {
        std::vector<double> a = positive_definite(m);
        a[at * m + at] = bad;
        CHECK(cholesky(a, m, 2) == at);
      }
}

TEST(cholesky_gives_the_same_bits_for_any_number_of_threads) {
  constexpr std::int64_t kOrder = 417;
  std::vector<double> one = positive_definite(kOrder), two = one, three = one;
  cholesky(one, kOrder, 1);
  cholesky(two, kOrder, 2);
  cholesky(three, kOrder, 3);
  CHECK(one == two && one == three);
}
