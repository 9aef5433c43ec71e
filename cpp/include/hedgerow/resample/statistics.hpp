// Statistics of bootstrap resamples as functions of how often each row is drawn: one value, or one
// row of values, a resample. Rows are given in an order where ranks matter; no drawn row is copied.
#pragma once

#include <cstdint>
#include <span>

#include "hedgerow/system/hot_loops.hpp"

namespace hedgerow {

/// How often each row is drawn in some resamples.
CountTable count_table(std::span<const std::uint8_t> counts, std::size_t n_rows);

/// The number of draws in all resamples together.
std::int64_t n_draws(const CountTable& table);

/// The number of draws in each resample.
void count_sizes(const CountTable& table, std::span<double> out);

/// The drawn rows in ascending order, resample after resample, as often as they are drawn.
void drawn_rows(const CountTable& table, std::span<std::int64_t> out);

/// The sums of some columns, one after the other in `columns`; out has a row a resample.
void count_sums(const CountTable& table, std::span<const double> columns, std::span<double> out);

/// The quantile of every resample, interpolated between order statistics; NaN if it has no rows.
/// `order` sorts the rows, and `values` are theirs in that order.
void count_quantiles(const CountTable& table, std::span<const std::int64_t> order,
                     std::span<const double> values, double probability, std::span<double> out);

/// Half the mean absolute difference of two draws over the mean.
void count_gini_coefficients(const CountTable& table, std::span<const std::int64_t> order,
                             std::span<const double> values, std::span<double> out);

/// The share of pairs of a positive and a negative draw that the score puts in order, ties half.
void count_auc(const CountTable& table, const ScoreOrder& order, std::span<double> out);

}  // namespace hedgerow
