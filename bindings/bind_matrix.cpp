#include <algorithm>
#include <limits>

#include "arrays.hpp"
#include "hedgerow/data/compact.hpp"

namespace hedgerow::bindings {
namespace {

/// How many values 32-bit row bounds can count.
constexpr double kMostStored = std::numeric_limits<std::int32_t>::max();

template <class T>
OwnedMatrix dense(Table<const T> values) {
  const auto n_rows = static_cast<std::int64_t>(values.shape(0));
  const auto n_cols = static_cast<std::int64_t>(values.shape(1));
  return {DenseRows<T>{values.data(), n_rows, n_cols, n_cols}, {nb::ndarray<nb::ro>(values)}};
}

/// ValueError unless the row bounds ascend from 0 and end within the n_stored values.
template <class I>
void require_bounds(std::span<const I> indptr, std::size_t n_stored) {
  if (indptr.empty() || indptr.front() != 0)
    throw nb::value_error("indptr does not start with 0: give the row bounds of a CSR matrix.");
  if (!std::is_sorted(indptr.begin(), indptr.end()))
    throw nb::value_error("indptr decreases: give the row bounds of a CSR matrix, in order.");
  if (static_cast<std::size_t>(indptr.back()) > n_stored)
    throw nb::value_error("indptr ends beyond the stored values: give as many as it announces.");
}

template <class I>
void require_columns(std::span<const I> indices, std::int64_t n_cols) {
  std::int64_t n_outside = 0;  // counted, not searched for: that takes whole vectors at a time
  for (const I j : indices) n_outside += (j < 0) | (j >= n_cols);
  if (n_outside > 0)
    throw nb::value_error(("indices holds a column outside 0 ... n_cols - 1, and n_cols is " +
                           std::to_string(n_cols) + ": correct one of the two.")
                              .c_str());
}

template <class T, class I>
OwnedMatrix csr(Vector<const T> values, Vector<const I> indices, Vector<const I> indptr,
                std::int64_t n_cols) {
  {
    const nb::gil_scoped_release unlocked;
    require_bounds(as_span(indptr), std::min(values.size(), indices.size()));
    const auto n_stored = static_cast<std::size_t>(*(indptr.data() + indptr.size() - 1));
    require_columns(as_span(indices).first(n_stored), n_cols);
  }
  const auto n_rows = static_cast<std::int64_t>(indptr.size()) - 1;
  return {SparseRows<T, I>{values.data(), indices.data(), indptr.data(), n_rows, n_cols},
          {nb::ndarray<nb::ro>(values), nb::ndarray<nb::ro>(indices), nb::ndarray<nb::ro>(indptr)}};
}

template <class T, class I>
void bind_csr(nb::class_<OwnedMatrix>& matrix) {
  matrix.def_static("csr", &csr<T, I>, "values"_a.noconvert(), "indices"_a.noconvert(),
                    "indptr"_a.noconvert(), "n_cols"_a);
}

/// The row bounds of the values other than 0, if those are at most that share of all, else None.
template <class T>
nb::object nonzero_bounds(Table<const T> values, double most, int n_threads) {
  const DenseRows<T> rows = std::get<DenseRows<T>>(dense<T>(values).view);
  const double limit = std::min(most * static_cast<double>(values.size()), kMostStored);
  std::vector<std::int64_t> begins(values.shape(0) + 1);
  const std::int64_t count = [&] {
    const nb::gil_scoped_release unlocked;
    return sampled_density(rows) > most ? -1 : count_nonzero(rows, std::span(begins), n_threads);
  }();
  if (count < 0 || static_cast<double>(count) > limit) return nb::none();
  auto bounds = make_array<std::int32_t, 1>({begins.size()});
  std::copy(begins.begin(), begins.end(), bounds.data());
  return nb::cast(bounds);
}

/// Into memory of the core's, not of NumPy's: that asks for huge pages, whose first touch is dear
/// where a machine is a guest of another.
template <class T>
nb::tuple py_copy_nonzero(Table<const T> array, Vector<const std::int32_t> bounds, int n_threads) {
  const DenseRows<T> rows = std::get<DenseRows<T>>(dense<T>(array).view);
  require_length("bounds", bounds.size(), rows.n_rows + 1, "row, and one");
  require_bounds(as_span(bounds), array.size());
  const auto n_stored = static_cast<std::size_t>(bounds.data()[rows.n_rows]);
  auto values = make_array<T, 1>({n_stored});
  auto columns = make_array<std::int32_t, 1>({n_stored});
  {
    const nb::gil_scoped_release unlocked;
    copy_nonzero(rows, as_span(bounds), as_span(values), as_span(columns), n_threads);
  }
  return nb::make_tuple(values, columns);
}

template <class T>
void bind_compact(nb::module_& module) {
  module.def(
      "nonzero_bounds", &nonzero_bounds<T>, "array"_a.noconvert(), "most"_a, "n_threads"_a,
      "The row bounds of a CSR matrix of the values other than 0; None if they are more than "
      "that share of all.");
  module.def("copy_nonzero", &py_copy_nonzero<T>, "array"_a.noconvert(), "bounds"_a.noconvert(),
             "n_threads"_a, nb::rv_policy::move,
             "The values other than 0 and their columns, by the bounds of each row.");
}

}  // namespace

/// What dense() or csr() makes an equal matrix of.
nb::tuple parts(const OwnedMatrix& self) {
  const auto array = [&](std::size_t i) { return nb::ndarray<nb::numpy, nb::ro>(self.owners[i]); };
  if (self.owners.size() == 1) return nb::make_tuple(array(0));
  return nb::make_tuple(array(0), array(1), array(2), n_cols(self.view));
}

void bind_matrix(nb::module_& module) {
  nb::class_<OwnedMatrix> matrix(module, "Matrix", nb::is_final(), nb::is_weak_referenceable(),
                                 "Rows of data, dense or sparse; a view.");
  matrix.def_static("dense", &dense<float>, "array"_a.noconvert());
  matrix.def_static("dense", &dense<double>, "array"_a.noconvert());
  bind_csr<float, std::int32_t>(matrix);
  bind_csr<float, std::int64_t>(matrix);
  bind_csr<double, std::int32_t>(matrix);
  bind_csr<double, std::int64_t>(matrix);
  matrix.def_prop_ro("parts", &parts, "The arrays it views, and n_cols if it is sparse.");
  matrix.def_prop_ro("shape", [](const OwnedMatrix& self) {
    return nb::make_tuple(n_rows(self.view), n_cols(self.view));
  });
  bind_compact<float>(module);
  bind_compact<double>(module);
}

}  // namespace hedgerow::bindings
