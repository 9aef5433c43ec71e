#include <nanobind/stl/optional.h>

#include <optional>

#include "arrays.hpp"
#include "hedgerow/loss/loss_pass.hpp"

namespace hedgerow::bindings {
namespace {

using Shift = std::optional<Vector<const double>>;

const double* shift_of(const Shift& shift) { return shift ? shift->data() : nullptr; }

/// ValueError unless the array has a value for each row.
template <class Array>
void require_row_values(const char* name, const Array& array, std::int64_t n_rows) {
  require_length(name, array.size(), n_rows, "row");
}

/// The arrays as rows, once each is known to have a value for each of them.
LossRows loss_rows(std::int64_t n_rows, const Vector<const double>& y,
                   const Vector<const double>& target, const Vector<const double>& weight,
                   const Shift& shift, const Vector<double>& residual, const Vector<double>& alpha,
                   const Vector<double>& curvature) {
  require_row_values("y", y, n_rows);
  require_row_values("target", target, n_rows);
  require_row_values("weight", weight, n_rows);
  if (shift) require_row_values("shift", *shift, n_rows);
  require_row_values("residual", residual, n_rows);
  require_row_values("alpha", alpha, n_rows);
  require_row_values("curvature", curvature, n_rows);
  return {y.data(),        target.data(), weight.data(),   shift_of(shift),
          residual.data(), alpha.data(),  curvature.data()};
}

nb::tuple py_loss_pass(const OwnedMatrix& matrix, const LossShape& loss, Vector<const double> y,
                       Vector<const double> target, Vector<const double> weight, Shift shift,
                       Vector<const double> w, double intercept, Vector<double> residual,
                       Vector<double> alpha, Vector<double> curvature, int n_threads) {
  const LossRows rows =
      loss_rows(n_rows(matrix.view), y, target, weight, shift, residual, alpha, curvature);
  require_length("w", w.size(), n_cols(matrix.view), "column of the matrix");
  auto combined = make_array<double, 1>({w.size()});
  const LossSums sums = [&] {
    const nb::gil_scoped_release unlocked;
    return loss_pass(matrix.view, loss, rows, as_span(w), intercept, as_span(combined), n_threads);
  }();
  return nb::make_tuple(combined, sums);
}

LossSums py_loss_at(const LossShape& loss, Vector<const double> y, Vector<const double> target,
                    Vector<const double> weight, Shift shift, Vector<double> residual,
                    Vector<double> alpha, Vector<double> curvature, int n_threads) {
  const auto n_rows = static_cast<std::int64_t>(residual.size());
  const LossRows rows = loss_rows(n_rows, y, target, weight, shift, residual, alpha, curvature);
  const nb::gil_scoped_release unlocked;
  return loss_at(loss, rows, n_rows, n_threads);
}

nb::tuple py_loss_along(const LossShape& loss, Vector<const double> weight, Shift shift,
                        Vector<const double> residual, Vector<const double> change, double step,
                        int n_threads) {
  const auto n_rows = static_cast<std::int64_t>(residual.size());
  require_row_values("weight", weight, n_rows);
  if (shift) require_row_values("shift", *shift, n_rows);
  require_row_values("change", change, n_rows);
  const LossLine line{weight.data(), shift_of(shift), residual.data(), change.data(), step};
  const LossCurve curve = [&] {
    const nb::gil_scoped_release unlocked;
    return loss_along(loss, line, n_rows, n_threads);
  }();
  return nb::make_tuple(curve.value, curve.slope, curve.curvature);
}

LossShape one_sided(double steepness, bool bounded) {
  return {LossKind::one_sided, bounded, 0.0, steepness};
}

LossShape two_sided(double epsilon, double steepness, bool bounded) {
  return {LossKind::two_sided, bounded, epsilon, steepness};
}

LossShape logistic() { return {LossKind::logistic, true, 0.0, 1.0}; }

}  // namespace

void bind_losses(nb::module_& module) {
  nb::class_<LossShape>(module, "LossShape", nb::is_final(), "A loss of the residual.")
      .def_static("one_sided", &one_sided, "steepness"_a, "bounded"_a,
                  "alpha = clip(shift + c steepness r, 0, c if bounded else inf).")
      .def_static("two_sided", &two_sided, "epsilon"_a, "steepness"_a, "bounded"_a,
                  "The same on both sides of 0, beyond a tube of half-width epsilon.")
      .def_static("logistic", &logistic, "alpha = c / (1 + e^-r).");
  nb::class_<LossSums>(module, "LossSums", nb::is_final(), "Sums over all rows.")
      .def_ro("balance", &LossSums::balance)
      .def_ro("smooth", &LossSums::smooth)
      .def_ro("value", &LossSums::value)
      .def_ro("gain", &LossSums::gain);
  module.def(
      "loss_pass", &py_loss_pass, "matrix"_a, "loss"_a, "y"_a.noconvert(), "target"_a.noconvert(),
      "weight"_a.noconvert(), "shift"_a.noconvert().none(), "w"_a.noconvert(), "intercept"_a,
      "residual"_a.noconvert(), "alpha"_a.noconvert(), "curvature"_a.noconvert(), "n_threads"_a,
      "Write residual, alpha and curvature at (w, intercept); the sum of alpha_i y_i x_i, and "
      "the sums.");
  module.def("loss_at", &py_loss_at, "loss"_a, "y"_a.noconvert(), "target"_a.noconvert(),
             "weight"_a.noconvert(), "shift"_a.noconvert().none(), "residual"_a.noconvert(),
             "alpha"_a.noconvert(), "curvature"_a.noconvert(), "n_threads"_a,
             "Write alpha and curvature at the residuals given; the sums.");
  module.def("loss_along", &py_loss_along, "loss"_a, "weight"_a.noconvert(),
             "shift"_a.noconvert().none(), "residual"_a.noconvert(), "change"_a.noconvert(),
             "step"_a, "n_threads"_a,
             "The smoothed loss at residual + step * change, its slope and its second derivative "
             "in step.");
}

}  // namespace hedgerow::bindings
