#include "arrays.hpp"
#include "hedgerow/solver/stochastic_descent.hpp"

namespace hedgerow::bindings {
namespace {

constexpr const char* kRow = "row of the matrix";
constexpr const char* kColumn = "column of the matrix";

nb::tuple py_averaged_steps(const OwnedMatrix& matrix, Vector<const double> y,
                            Vector<const double> target, Vector<const std::int64_t> order,
                            double total_weight, double constant, std::int64_t n_before,
                            double harmonic, Vector<double> theta, Vector<double> lagged,
                            Vector<std::int64_t> violations) {
  require_length("y", y.size(), n_rows(matrix.view), kRow);
  require_length("target", target.size(), n_rows(matrix.view), kRow);
  require_length("violations", violations.size(), n_rows(matrix.view), kRow);
  require_length("theta", theta.size(), n_cols(matrix.view) + 1,
                 "column of the matrix and one more");
  require_length("lagged", lagged.size(), n_cols(matrix.view) + 1,
                 "column of the matrix and one more");
  require_count("n_before", n_before);
  require_rows(as_span(order), n_rows(matrix.view));
  const std::int64_t n_made = [&] {
    const nb::gil_scoped_release unlocked;
    return averaged_steps(matrix.view, as_span(y), as_span(target), as_span(order), total_weight,
                          constant, n_before, harmonic, as_span(theta), as_span(lagged),
                          as_span(violations));
  }();
  return nb::make_tuple(n_made, harmonic);
}

nb::tuple py_steady_steps(const OwnedMatrix& matrix, Vector<const double> y,
                          Vector<const double> target, Vector<const double> push,
                          Vector<const std::int64_t> order, double keep, double keep_intercept,
                          double intercept_share, Vector<double> coef, double intercept,
                          Vector<std::int64_t> violations) {
  require_length("y", y.size(), n_rows(matrix.view), kRow);
  require_length("target", target.size(), n_rows(matrix.view), kRow);
  require_length("push", push.size(), n_rows(matrix.view), kRow);
  require_length("violations", violations.size(), n_rows(matrix.view), kRow);
  require_length("coef", coef.size(), n_cols(matrix.view), kColumn);
  require_rows(as_span(order), n_rows(matrix.view));
  const std::int64_t n_made = [&] {
    const nb::gil_scoped_release unlocked;
    return steady_steps(matrix.view, as_span(y), as_span(target), as_span(push), as_span(order),
                        keep, keep_intercept, intercept_share, as_span(coef), intercept,
                        as_span(violations));
  }();
  return nb::make_tuple(n_made, intercept);
}

}  // namespace

void bind_descent(nb::module_& module) {
  module.def("averaged_steps", &py_averaged_steps, "matrix"_a, "y"_a.noconvert(),
             "target"_a.noconvert(), "order"_a.noconvert(), "total_weight"_a, "constant"_a,
             "n_before"_a, "harmonic"_a, "theta"_a.noconvert(), "lagged"_a.noconvert(),
             "violations"_a.noconvert(),
             "One step a row of order; theta, lagged and violations are updated in place, and the "
             "number of steps made and the new harmonic are returned.");
  module.def("steady_steps", &py_steady_steps, "matrix"_a, "y"_a.noconvert(),
             "target"_a.noconvert(), "push"_a.noconvert(), "order"_a.noconvert(), "keep"_a,
             "keep_intercept"_a, "intercept_share"_a, "coef"_a.noconvert(), "intercept"_a,
             "violations"_a.noconvert(),
             "One step a row of order; coef and violations are updated in place, and the number of "
             "steps made and the new intercept are returned.");
}

}  // namespace hedgerow::bindings
