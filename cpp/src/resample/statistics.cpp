#include "hedgerow/resample/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "hedgerow/system/hot.hpp"

namespace hedgerow {
namespace {

/// Finds order statistics from a row near which they are expected. How many draws lie below that
/// row is one sum; from there it is a short walk, however many rows there are.
class RankFinder {
 public:
  RankFinder(std::span<const std::int64_t> order, double probability)
      : order_(order), is_below_(order.size(), 0) {
    start_ = static_cast<std::size_t>(probability * static_cast<double>(order.size() - 1));
    for (const std::int64_t row : order.first(start_))
      is_below_[static_cast<std::size_t>(row)] = 255;
  }

  /// Where in the order two draws are found, those of two neighbouring ranks or of one.
  struct Places {
    std::size_t low, high;
  };

  /// `low` and `high` are ranks from 0 to below the number of draws; high - low is 0 or 1.
  Places find(const std::uint8_t* counts, std::int64_t low, std::int64_t high) const {
    const auto count = [&](std::size_t i) { return std::int64_t{counts[order_[i]]}; };
    std::size_t i = start_;
    std::int64_t below =
        hot().sum_selected(counts, is_below_.data(), static_cast<std::int64_t>(order_.size()));
    while (below > low) below -= count(--i);
    const std::size_t last = order_.size() - 1;
    while (i < last && below + count(i) <= low) below += count(i++);
    Places places{i, i};
    if (below + count(i) <= high)
      while (places.high < last && count(++places.high) == 0) continue;
    return places;
  }

 private:
  std::span<const std::int64_t> order_;
  std::vector<std::uint8_t> is_below_;
  std::size_t start_;
};

}  // namespace

CountTable count_table(std::span<const std::uint8_t> counts, std::size_t n_rows) {
  return {counts.data(), static_cast<std::int64_t>(counts.size() / n_rows),
          static_cast<std::int64_t>(n_rows)};
}

std::int64_t n_draws(const CountTable& table) {
  return hot().sum_counts(table.counts, table.n_resamples * table.n_rows);
}

void count_sizes(const CountTable& table, std::span<double> out) {
  for (std::int64_t r = 0; r < table.n_resamples; ++r)
    out[static_cast<std::size_t>(r)] =
        static_cast<double>(hot().sum_counts(table.counts + r * table.n_rows, table.n_rows));
}

void drawn_rows(const CountTable& table, std::span<std::int64_t> out) {
  std::int64_t* next = out.data();
  const std::int64_t* const end = next + out.size();
  for (std::int64_t cell = 0; cell < table.n_resamples * table.n_rows; cell += table.n_rows)
    for (std::int64_t row = 0; row < table.n_rows; ++row) {
      const std::int64_t count = table.counts[cell + row];
      // Counts are small and hard to foresee: four places are written without asking how many.
      if (count <= 4 && end - next >= 4) [[likely]]
        std::fill_n(next, 4, row);
      else
        std::fill_n(next, count, row);
      next += count;
    }
}

void count_sums(const CountTable& table, std::span<const double> columns, std::span<double> out) {
  const auto n_columns = static_cast<std::int64_t>(columns.size()) / table.n_rows;
  hot().count_sums(table, columns.data(), n_columns, out.data());
}

void count_quantiles(const CountTable& table, std::span<const std::int64_t> order,
                     std::span<const double> values, double probability, std::span<double> out) {
  const RankFinder finder(order, probability);
  for (std::int64_t r = 0; r < table.n_resamples; ++r) {
    const std::uint8_t* counts = table.counts + r * table.n_rows;
    const std::int64_t n = hot().sum_counts(counts, table.n_rows);
    double& quantile = out[static_cast<std::size_t>(r)];
    quantile = std::numeric_limits<double>::quiet_NaN();
    if (n == 0) continue;
    const double position = static_cast<double>(n - 1) * probability;
    const double low = std::floor(position);
    const auto places = finder.find(counts, static_cast<std::int64_t>(low),
                                    static_cast<std::int64_t>(std::ceil(position)));
    quantile = values[places.low] + (values[places.high] - values[places.low]) * (position - low);
  }
}

void count_gini_coefficients(const CountTable& table, std::span<const std::int64_t> order,
                             std::span<const double> values, std::span<double> out) {
  hot().gini_coefficients(table, order.data(), values.data(), out.data());
}

void count_auc(const CountTable& table, const ScoreOrder& order, std::span<double> out) {
  hot().auc(table, order, out.data());
}

}  // namespace hedgerow
