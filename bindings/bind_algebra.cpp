#include "arrays.hpp"
#include "hedgerow/data/algebra.hpp"
#include "hedgerow/data/pair_votes.hpp"

namespace hedgerow::bindings {
namespace {

std::size_t height(const OwnedMatrix& matrix) {
  return static_cast<std::size_t>(n_rows(matrix.view));
}

std::size_t width(const OwnedMatrix& matrix) {
  return static_cast<std::size_t>(n_cols(matrix.view));
}

/// ValueError unless the array is a square.
template <class T>
std::int64_t require_square(const char* name, const Table<T>& array) {
  if (array.shape(0) == array.shape(1)) return static_cast<std::int64_t>(array.shape(0));
  throw nb::value_error((std::string(name) + " has shape (" + std::to_string(array.shape(0)) +
                         ", " + std::to_string(array.shape(1)) + "): give a square matrix.")
                            .c_str());
}

NewArray<double, 2> py_scores(const OwnedMatrix& matrix, Table<const double> coef,
                              Vector<const double> intercept, int n_threads) {
  require_length("a row of coef", coef.shape(1), n_cols(matrix.view), "column of the matrix");
  require_length("intercept", intercept.size(), static_cast<std::int64_t>(coef.shape(0)),
                 "row of coef");
  auto out = make_array<double, 2>({height(matrix), coef.shape(0)});
  const nb::gil_scoped_release unlocked;
  scores(matrix.view, as_span(coef), as_span(intercept), as_span(out), n_threads);
  return out;
}

NewArray<double, 2> py_votes_of_pairs(Table<const double> scores, std::int64_t n_classes) {
  require_length("a row of scores", scores.shape(1), n_classes * (n_classes - 1) / 2,
                 "pair of classes");
  auto out = make_array<double, 2>({scores.shape(0), static_cast<std::size_t>(n_classes)});
  const nb::gil_scoped_release unlocked;
  votes_of_pairs(as_span(scores), n_classes, as_span(out));
  return out;
}

NewArray<double, 1> py_weighted_row_sum(const OwnedMatrix& matrix, Vector<const double> v,
                                        int n_threads) {
  require_length("v", v.size(), n_rows(matrix.view), "row of the matrix");
  auto out = make_array<double, 1>({width(matrix)});
  const nb::gil_scoped_release unlocked;
  weighted_row_sum(matrix.view, as_span(v), as_span(out), n_threads);
  return out;
}

NewArray<double, 1> py_weighted_square_sum(const OwnedMatrix& matrix, Vector<const double> v,
                                           int n_threads) {
  require_length("v", v.size(), n_rows(matrix.view), "row of the matrix");
  auto out = make_array<double, 1>({width(matrix)});
  const nb::gil_scoped_release unlocked;
  weighted_square_sum(matrix.view, as_span(v), as_span(out), n_threads);
  return out;
}

NewArray<double, 1> py_gram_times(const OwnedMatrix& matrix, Vector<const double> v,
                                  double constant, Vector<const double> p, int n_threads) {
  const std::size_t order = width(matrix) + (constant != 0.0);
  require_length("v", v.size(), n_rows(matrix.view), "row of the matrix");
  require_length("p", p.size(), static_cast<std::int64_t>(order), "column of the product");
  auto out = make_array<double, 1>({order});
  const nb::gil_scoped_release unlocked;
  gram_times(matrix.view, as_span(v), constant, as_span(p), as_span(out), n_threads);
  return out;
}

NewArray<double, 1> py_row_sq_norms(const OwnedMatrix& matrix, int n_threads) {
  auto out = make_array<double, 1>({height(matrix)});
  const nb::gil_scoped_release unlocked;
  row_sq_norms(matrix.view, as_span(out), n_threads);
  return out;
}

NewArray<std::int64_t, 1> py_column_counts(const OwnedMatrix& matrix) {
  auto out = make_array<std::int64_t, 1>({width(matrix)});
  const nb::gil_scoped_release unlocked;
  column_counts(matrix.view, as_span(out));
  return out;
}

NewArray<double, 1> py_row_maxima(const OwnedMatrix& matrix, Vector<const double> v) {
  require_length("v", v.size(), n_cols(matrix.view), "column of the matrix");
  auto out = make_array<double, 1>({height(matrix)});
  const nb::gil_scoped_release unlocked;
  row_maxima(matrix.view, as_span(v), as_span(out));
  return out;
}

std::int64_t py_first_beyond(const OwnedMatrix& matrix, double largest) {
  const nb::gil_scoped_release unlocked;
  return first_beyond(matrix.view, largest);
}

NewArray<double, 2> py_gram(const OwnedMatrix& matrix, Vector<const double> v, double constant,
                            int n_threads) {
  require_length("v", v.size(), n_rows(matrix.view), "row of the matrix");
  const std::size_t order = width(matrix) + (constant != 0.0);
  auto out = make_array<double, 2>({order, order});
  const nb::gil_scoped_release unlocked;
  gram(matrix.view, as_span(v), constant, as_span(out), n_threads);
  return out;
}

NewArray<double, 2> py_row_gram(const OwnedMatrix& matrix, int n_threads) {
  auto out = make_array<double, 2>({height(matrix), height(matrix)});
  const nb::gil_scoped_release unlocked;
  row_gram(matrix.view, as_span(out), n_threads);
  return out;
}

std::int64_t py_cholesky(Table<double> a, int n_threads) {
  const std::int64_t m = require_square("a", a);
  const nb::gil_scoped_release unlocked;
  return cholesky(as_span(a), m, n_threads);
}

NewArray<double, 1> py_cholesky_solve(Table<const double> l, Vector<const double> b) {
  const std::int64_t m = require_square("l", l);
  require_length("b", b.size(), m, "row of l");
  auto out = copy_array<double>(as_span(b));
  const nb::gil_scoped_release unlocked;
  cholesky_solve(as_span(l), m, as_span(out));
  return out;
}

}  // namespace

void bind_algebra(nb::module_& module) {
  module.def("scores", &py_scores, "matrix"_a, "coef"_a.noconvert(), "intercept"_a.noconvert(),
             "n_threads"_a, "coef . x_i + intercept, for each row i and each row of coef.");
  module.def("votes_of_pairs", &py_votes_of_pairs, "scores"_a.noconvert(), "n_classes"_a,
             "For each row and class its votes by the scores of pairs, and less than 1/3 besides.");
  module.def("weighted_row_sum", &py_weighted_row_sum, "matrix"_a, "v"_a.noconvert(), "n_threads"_a,
             "The sum of v_i x_i.");
  module.def("weighted_square_sum", &py_weighted_square_sum, "matrix"_a, "v"_a.noconvert(),
             "n_threads"_a, "The sum of v_i x_ij^2, for each column j.");
  module.def("gram_times", &py_gram_times, "matrix"_a, "v"_a.noconvert(), "constant"_a,
             "p"_a.noconvert(), "n_threads"_a, "gram(matrix, v, constant) p, in one pass.");
  module.def("row_sq_norms", &py_row_sq_norms, "matrix"_a, "n_threads"_a, "|x_i|^2.");
  module.def("column_counts", &py_column_counts, "matrix"_a,
             "How many rows have another value than 0 in each column.");
  module.def("row_maxima", &py_row_maxima, "matrix"_a, "v"_a.noconvert(),
             "The largest v_j over the columns in which a row has another value than 0, or 0.");
  module.def(
      "first_beyond", &py_first_beyond, "matrix"_a, "largest"_a,
      "The first position among the stored values that is not finite or beyond the largest, or -1.");
  module.def("gram", &py_gram, "matrix"_a, "v"_a.noconvert(), "constant"_a, "n_threads"_a,
             "The sum of v_i z_i z_i' with z_i = (x_i, constant), or x_i if constant is 0.");
  module.def("row_gram", &py_row_gram, "matrix"_a, "n_threads"_a, "The products x_i . x_j.");
  module.def("cholesky", &py_cholesky, "a"_a.noconvert(), "n_threads"_a,
             "Factor a = L L' in place; -1, or the first pivot that is not positive and finite.");
  module.def("cholesky_solve", &py_cholesky_solve, "l"_a.noconvert(), "b"_a.noconvert(),
             "The x with L L' x = b.");
}

}  // namespace hedgerow::bindings
