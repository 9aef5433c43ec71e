// Slow, obvious sums over the drawn rows judge what is computed from counts.
#include "hedgerow/resample/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "hedgerow/resample/counts.hpp"

using namespace hedgerow;

namespace {

constexpr std::size_t kRows = 97;
constexpr std::size_t kResamples = 7;

/// Resamples of rows whose values ascend as (5 i) mod 97 does, and many of which are equal.
struct Data {
  std::vector<std::uint8_t> counts = std::vector<std::uint8_t>(kRows * kResamples);
  std::vector<std::int64_t> order;
  std::vector<double> values;

  Data() {
    multinomial_counts(5, 0, kRows, counts);
    for (std::size_t i = 0; i < kRows; ++i) {
      order.push_back(static_cast<std::int64_t>(5 * i % kRows));
      values.push_back(static_cast<double>(i / 3));
    }
  }

  CountTable table() const { return count_table(counts, kRows); }

  /// The values drawn in a resample, sorted.
  std::vector<double> drawn(std::size_t resample) const {
    std::vector<double> all;
    for (std::size_t i = 0; i < kRows; ++i)
      all.insert(all.end(), counts[resample * kRows + static_cast<std::size_t>(order[i])],
                 values[i]);
    return all;
  }
};

}  // namespace

TEST(quantiles_are_those_of_the_drawn_values) {
  const Data data;
  for (const double probability : {0.0, 0.03, 0.5, 0.77, 1.0}) {
    std::vector<double> quantiles(kResamples);
    count_quantiles(data.table(), data.order, data.values, probability, quantiles);
    for (std::size_t r = 0; r < kResamples; ++r) {
      const auto drawn = data.drawn(r);
      const double position = probability * static_cast<double>(drawn.size() - 1);
      const auto low = static_cast<std::size_t>(std::floor(position));
      const auto high = static_cast<std::size_t>(std::ceil(position));
      const double share = position - std::floor(position);
      check::near(quantiles[r], (1 - share) * drawn[low] + share * drawn[high], 1e-12);
    }
  }
}

TEST(a_quantile_is_found_however_far_from_its_place_in_the_data) {
  // All draws are of one row: every quantile is its value.
  std::vector<std::int64_t> order(kRows);
  std::iota(order.begin(), order.end(), 0);
  const std::vector<double> values(order.begin(), order.end());
  for (const std::size_t row : {std::size_t{0}, kRows / 2, kRows - 1}) {
    std::vector<std::uint8_t> counts(kRows, 0);
    counts[row] = 3;
    for (const double probability : {0.0, 0.4, 1.0}) {
      double quantile = -1.0;
      count_quantiles(count_table(counts, kRows), order, values, probability,
                      std::span(&quantile, 1));
      CHECK(quantile == values[row]);
    }
  }
}

TEST(a_resample_without_draws_has_no_quantile) {
  const Data data;
  const std::vector<std::uint8_t> none(kRows, 0);
  double median = 0.0;
  count_quantiles(count_table(none, kRows), data.order, data.values, 0.5, std::span(&median, 1));
  CHECK(std::isnan(median));
}

TEST(a_gini_coefficient_is_half_the_mean_difference_over_the_mean) {
  const Data data;
  std::vector<double> coefficients(kResamples);
  count_gini_coefficients(data.table(), data.order, data.values, coefficients);
  for (std::size_t r = 0; r < kResamples; ++r) {
    const auto drawn = data.drawn(r);
    double differences = 0.0, total = 0.0;
    for (const double a : drawn) {
      total += a;
      for (const double b : drawn) differences += std::abs(a - b);
    }
    const auto n = static_cast<double>(drawn.size());
    check::near(coefficients[r], differences / (2.0 * n * total), 1e-12);
  }
}

TEST(an_auc_is_the_share_of_ordered_pairs) {
  const Data data;
  std::vector<double> is_negative, is_tied;
  for (std::size_t i = 0; i < kRows; ++i) {
    is_negative.push_back(i % 3 < 2);  // of three equal values the first two
    is_tied.push_back(i % 3 > 0);
  }
  std::vector<double> areas(kResamples);
  count_auc(data.table(), {data.order.data(), is_negative.data(), is_tied.data()}, areas);
  for (std::size_t r = 0; r < kResamples; ++r) {
    double ordered = 0.0, pairs = 0.0;
    for (std::size_t p = 0; p < kRows; ++p)
      for (std::size_t n = 0; n < kRows; ++n) {
        if (is_negative[p] == 1.0 || is_negative[n] == 0.0) continue;
        const auto count = [&](std::size_t i) -> double {
          return data.counts[r * kRows + static_cast<std::size_t>(data.order[i])];
        };
        const double weight = count(p) * count(n);
        pairs += weight;
        ordered += weight * (data.values[p] > data.values[n]    ? 1.0
                             : data.values[p] == data.values[n] ? 0.5
                                                                : 0.0);
      }
    check::near(areas[r], ordered / pairs, 1e-14);
  }
}

TEST(drawn_rows_repeat_each_row_as_often_as_it_is_drawn) {
  const std::vector<std::uint8_t> counts{0, 2, 255, 1, 5, 0, 0, 3, 4, 0, 0, 1};
  const CountTable table = count_table(counts, 6);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(n_draws(table))), expected;
  drawn_rows(table, rows);
  for (std::size_t cell = 0; cell < counts.size(); ++cell)
    expected.insert(expected.end(), counts[cell], static_cast<std::int64_t>(cell % 6));
  CHECK(rows == expected);
}
