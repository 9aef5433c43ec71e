#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "hedgerow/resample/counts.hpp"

namespace {

std::vector<std::uint8_t> draw(std::int64_t size, std::int64_t n_resamples, std::uint64_t stream) {
  std::vector<std::uint8_t> counts(static_cast<std::size_t>(size * n_resamples));
  hedgerow::multinomial_counts(7, 2 * stream, size, counts);
  return counts;
}

}  // namespace

TEST(every_resample_has_as_many_draws_as_units) {
  for (const std::int64_t size : {1, 2, 8, 9, 10, 100, 511, 512, 513, 1001}) {
    const auto counts = draw(size, 50, 0);
    for (auto row = counts.begin(); row != counts.end(); row += size)
      CHECK(std::accumulate(row, row + size, std::int64_t{0}) == size);
  }
}

TEST(counts_have_the_variance_of_multinomial_ones) {
  for (const std::int64_t size : {4, 25, 400}) {
    const std::int64_t n_cells = 400'000 / size * size;
    double squares = 0;
    for (const std::uint8_t count : draw(size, n_cells / size, 1))
      squares += (count - 1.0) * (count - 1.0);
    // The squares' standard deviation is below 2: five standard errors of their mean.
    const double expected = 1.0 - 1.0 / static_cast<double>(size);
    CHECK(std::abs(squares / static_cast<double>(n_cells) - expected) < 10.0 / std::sqrt(n_cells));
  }
}

TEST(a_unit_is_left_out_as_often_as_the_binomial_law_says) {
  for (const std::int64_t size : {4, 25, 400}) {
    const std::int64_t n_cells = 400'000 / size * size;
    double left_out = 0;
    for (const std::uint8_t count : draw(size, n_cells / size, 2)) left_out += count == 0;
    const double n = static_cast<double>(size);
    CHECK(std::abs(left_out / static_cast<double>(n_cells) - std::pow(1.0 - 1.0 / n, n)) < 0.005);
  }
}

TEST(a_stream_gives_the_same_resamples_again_and_another_stream_others) {
  CHECK(draw(100, 5, 3) == draw(100, 5, 3));
  CHECK(draw(100, 5, 3) != draw(100, 5, 4));
}
