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

TEST(wrong_bounds_write_nothing_outside) {
  const std::vector<double> x{1, 2, 3, 4};
  const DenseRows<double> rows{x.data(), 2, 2, 2};
  std::vector<double> values(4, -1.0);
  std::vector<std::int32_t> columns(4, -1);
  const std::vector<std::int32_t> bounds{-5, 1, 90};
  hedgerow::copy_nonzero(rows, std::span<const std::int32_t>(bounds),
                         std::span(values).first(2), std::span(columns).first(2), 1);
  CHECK((values == std::vector<double>{1, 3, -1, -1}));
  CHECK((columns == std::vector<std::int32_t>{0, 0, -1, -1}));
}
