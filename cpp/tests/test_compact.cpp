#include "check.hpp"
#include "hedgerow/data/compact.hpp"

#include <cstdint>
#include <span>
#include <vector>

using hedgerow::DenseRows;

TEST(compressed_rows_hold_what_is_not_zero_in_order) {
  // Each row is one longer than what counts of it.
  const std::vector<float> x{0, 2, 0, 9, 0, 0, 0, 9, 3, 0, -4, 9};
  const DenseRows<float> rows{x.data(), 3, 3, 4};
  CHECK(hedgerow::sampled_density(rows) == 3.0 / 9.0);
  std::vector<std::int64_t> begins(4);
  CHECK(hedgerow::count_nonzero(rows, std::span(begins), 2) == 3);
  CHECK((begins == std::vector<std::int64_t>{0, 1, 1, 3}));
  const std::vector<std::int32_t> bounds(begins.begin(), begins.end());
  std::vector<float> values(3);
  std::vector<std::int32_t> columns(3);
  hedgerow::copy_nonzero(rows, std::span<const std::int32_t>(bounds), std::span(values),
                         std::span(columns), 2);
  CHECK((values == std::vector<float>{2, 3, -4}));
  CHECK((columns == std::vector<std::int32_t>{1, 0, 2}));
}

TEST(long_rows_with_empty_stretches_and_negative_zeros_are_compressed_as_short_ones) {
  const std::int64_t n_cols = 70;
  std::vector<double> x(static_cast<std::size_t>(2 * n_cols), 0.0);
  for (const std::size_t j : {0u, 15u, 16u, 47u, 69u, 70u, 139u})
    x[j] = 1.0 + static_cast<double>(j);
  x[50] = -0.0;
  const DenseRows<double> rows{x.data(), 2, n_cols, n_cols};
  std::vector<std::int64_t> begins(3);
  CHECK(hedgerow::count_nonzero(rows, std::span(begins), 1) == 7);
  CHECK((begins == std::vector<std::int64_t>{0, 5, 7}));
  const std::vector<std::int32_t> bounds(begins.begin(), begins.end());
  std::vector<double> values(7);
  std::vector<std::int32_t> columns(7);
  hedgerow::copy_nonzero(rows, std::span<const std::int32_t>(bounds), std::span(values),
                         std::span(columns), 1);
  CHECK((values == std::vector<double>{1, 16, 17, 48, 70, 71, 140}));
  CHECK((columns == std::vector<std::int32_t>{0, 15, 16, 47, 69, 0, 69}));
}

TEST(wrong_bounds_write_nothing_outside) {
  const std::vector<double> x{1, 2, 3, 4};
  const DenseRows<double> rows{x.data(), 2, 2, 2};
  std::vector<double> values(4, -1.0);
  std::vector<std::int32_t> columns(4, -1);
  const std::vector<std::int32_t> bounds{-5, 1, 90};
  hedgerow::copy_nonzero(rows, std::span<const std::int32_t>(bounds), std::span(values).first(2),
                         std::span(columns).first(2), 1);
  CHECK((values == std::vector<double>{1, 3, -1, -1}));
  CHECK((columns == std::vector<std::int32_t>{0, 0, -1, -1}));
}
