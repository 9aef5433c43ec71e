#include "arrays.hpp"
#include "hedgerow/resample/counts.hpp"
#include "hedgerow/resample/statistics.hpp"

namespace hedgerow::bindings {
namespace {

using Counts = Table<const std::uint8_t>;

NewArray<std::uint8_t, 2> py_multinomial_counts(std::uint64_t seed, std::uint64_t stream,
                                                std::int64_t size, std::size_t n_resamples) {
  if (size < 1)
    throw nb::value_error(
        ("size is " + std::to_string(size) + ": give the number of units to draw from.").c_str());
  auto out = make_array<std::uint8_t, 2>({n_resamples, static_cast<std::size_t>(size)});
  const nb::gil_scoped_release unlocked;
  multinomial_counts(seed, stream, size, as_span(out));
  return out;
}

/// ValueError if there are no rows to be drawn.
CountTable as_table(const Counts& counts) {
  if (counts.shape(1) > 0) return count_table(as_span(counts), counts.shape(1));
  throw nb::value_error("counts has no columns: give one for each row of the data.");
}

/// ValueError unless `order` names rows, one for each column of the counts.
void require_order(const Vector<const std::int64_t>& order, const CountTable& table) {
  require_length("order", order.size(), table.n_rows, "column of counts");
  const auto [lowest, highest] = std::ranges::minmax(as_span(order));
  if (lowest >= 0 && highest < table.n_rows) return;
  throw nb::value_error(("order goes from " + std::to_string(lowest) + " to " +
                         std::to_string(highest) + ", but counts has " +
                         std::to_string(table.n_rows) + " columns: give a permutation of them.")
                            .c_str());
}

NewArray<std::int64_t, 1> py_drawn_rows(Counts counts) {
  const CountTable table = as_table(counts);
  auto out = make_array<std::int64_t, 1>({static_cast<std::size_t>(n_draws(table))});
  const nb::gil_scoped_release unlocked;
  drawn_rows(table, as_span(out));
  return out;
}

NewArray<double, 1> py_count_sizes(Counts counts) {
  const CountTable table = as_table(counts);
  auto out = make_array<double, 1>({counts.shape(0)});
  const nb::gil_scoped_release unlocked;
  count_sizes(table, as_span(out));
  return out;
}

NewArray<double, 2> py_count_sums(Counts counts, Table<const double> columns) {
  const CountTable table = as_table(counts);
  require_length("a row of columns", columns.shape(1), table.n_rows, "column of counts");
  auto out = make_array<double, 2>({counts.shape(0), columns.shape(0)});
  const nb::gil_scoped_release unlocked;
  count_sums(table, as_span(columns), as_span(out));
  return out;
}

NewArray<double, 1> py_count_quantiles(Counts counts, Vector<const std::int64_t> order,
                                       Vector<const double> values, double probability) {
  const CountTable table = as_table(counts);
  require_order(order, table);
  require_length("values", values.size(), table.n_rows, "column of counts");
  if (!(probability >= 0.0 && probability <= 1.0))
    throw nb::value_error(
        ("probability is " + std::to_string(probability) + ": give one between 0 and 1.").c_str());
  auto out = make_array<double, 1>({counts.shape(0)});
  const nb::gil_scoped_release unlocked;
  count_quantiles(table, as_span(order), as_span(values), probability, as_span(out));
  return out;
}

NewArray<double, 1> py_count_gini_coefficients(Counts counts, Vector<const std::int64_t> order,
                                               Vector<const double> values) {
  const CountTable table = as_table(counts);
  require_order(order, table);
  require_length("values", values.size(), table.n_rows, "column of counts");
  auto out = make_array<double, 1>({counts.shape(0)});
  const nb::gil_scoped_release unlocked;
  count_gini_coefficients(table, as_span(order), as_span(values), as_span(out));
  return out;
}

NewArray<double, 1> py_count_auc(Counts counts, Vector<const std::int64_t> order,
                                 Vector<const double> is_negative, Vector<const double> is_tied) {
  const CountTable table = as_table(counts);
  require_order(order, table);
  require_length("is_negative", is_negative.size(), table.n_rows, "column of counts");
  require_length("is_tied", is_tied.size(), table.n_rows, "column of counts");
  auto out = make_array<double, 1>({counts.shape(0)});
  const nb::gil_scoped_release unlocked;
  count_auc(table, {order.data(), is_negative.data(), is_tied.data()}, as_span(out));
  return out;
}

}  // namespace

void bind_resample(nb::module_& module) {
  module.def("multinomial_counts", &py_multinomial_counts, "seed"_a, "stream"_a, "size"_a,
             "n_resamples"_a, "How often each unit is drawn in `size` draws, a row a resample.");
  module.def("drawn_rows", &py_drawn_rows, "counts"_a.noconvert(),
             "The rows drawn, resample after resample, each as often as it is drawn.");
  module.def("count_sizes", &py_count_sizes, "counts"_a.noconvert(),
             "The number of rows drawn in each resample.");
  module.def("count_sums", &py_count_sums, "counts"_a.noconvert(), "columns"_a.noconvert(),
             "The sum of every row of `columns` in each resample.");
  module.def("count_quantiles", &py_count_quantiles, "counts"_a.noconvert(), "order"_a.noconvert(),
             "values"_a.noconvert(), "probability"_a,
             "The quantile of each resample; `order` sorts the rows, `values` are sorted.");
  module.def("count_gini_coefficients", &py_count_gini_coefficients, "counts"_a.noconvert(),
             "order"_a.noconvert(), "values"_a.noconvert(),
             "The Gini coefficient of each resample; `order` sorts the rows, `values` are sorted.");
  module.def(
      "count_auc", &py_count_auc, "counts"_a.noconvert(), "order"_a.noconvert(),
      "is_negative"_a.noconvert(), "is_tied"_a.noconvert(),
      "The AUC of each resample; `order` sorts the rows by score, and then negatives first.");
}

}  // namespace hedgerow::bindings
