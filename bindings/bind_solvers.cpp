#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "names.hpp"
#include "hedgerow/solver/dual_coordinate_descent.hpp"
#include "hedgerow/solver/perceptron.hpp"

namespace hedgerow::bindings {
namespace {

constexpr const char* kRow = "row of the matrix";

constexpr std::pair<const char*, RowOrder> kOrders[] = {
    {"shuffled", RowOrder::shuffled},
    {"cyclic", RowOrder::cyclic},
    {"stochastic", RowOrder::stochastic},
};

void construct(DualCoordinateDescent* self, const OwnedMatrix& matrix, Vector<const double> y,
               Vector<const double> target, Vector<const double> weight, const std::string& loss,
               double epsilon, double rho, bool free_intercept, double balance,
               const std::string& order, bool shrinking, std::uint64_t seed, int n_threads) {
  const std::int64_t n = n_rows(matrix.view);
  require_length("y", y.size(), n, kRow);
  require_length("target", target.size(), n, kRow);
  require_length("weight", weight.size(), n, kRow);
  const DualCoordinateDescent::Problem problem{
      as_span(y), as_span(target), as_span(weight), named("loss", loss, kLosses), epsilon,
      rho,        free_intercept,  balance};
  const DualCoordinateDescent::Options options{named("order", order, kOrders), shrinking, seed,
                                               n_threads};
  const nb::gil_scoped_release unlocked;
  new (self) DualCoordinateDescent(matrix.view, problem, options);
}

nb::tuple run(DualCoordinateDescent& self, std::int64_t n_sweeps, double tolerance) {
  const auto report = [&] {
    const nb::gil_scoped_release unlocked;
    return self.run(n_sweeps, tolerance);
  }();
  return nb::make_tuple(report.sweeps, report.violation);
}

void set_alpha(DualCoordinateDescent& self, Vector<const double> alpha, double intercept) {
  require_length("alpha", alpha.size(), self.n_points(), kRow);
  const nb::gil_scoped_release unlocked;
  self.set_alpha(as_span(alpha), intercept);
}

nb::tuple state(const DualCoordinateDescent& self) {
  const auto state = self.state();
  return nb::make_tuple(copy_array<double>(state.alpha), copy_array<double>(state.w), state.shift,
                        state.excess, state.n_swept, state.multiplier_due);
}

void restore(DualCoordinateDescent& self, Vector<const double> alpha, Vector<const double> w,
             double shift, double excess, std::int64_t n_swept, bool multiplier_due) {
  require_length("alpha", alpha.size(), self.n_points(), kRow);
  require_length("w", w.size(), static_cast<std::int64_t>(self.w().size()), "column of the matrix");
  require_count("n_swept", n_swept);
  const auto values = [](const auto& array) {
    return std::vector<double>(array.data(), array.data() + array.size());
  };
  self.restore({values(alpha), values(w), shift, excess, n_swept, multiplier_due});
}

NewArray<double, 1> copy_alpha(const DualCoordinateDescent& self) {
  return copy_array<double>(self.alpha());
}

NewArray<double, 1> copy_scores(DualCoordinateDescent& self) {
  const auto scores = [&] {
    const nb::gil_scoped_release unlocked;
    return self.scores();
  }();
  return copy_array<double>(scores);
}

NewArray<double, 1> copy_w(const DualCoordinateDescent& self) {
  return copy_array<double>(self.w());
}

nb::tuple py_perceptron_pass(const OwnedMatrix& matrix, Vector<const double> y,
                             Vector<const double> weight, Vector<const std::int64_t> order,
                             double step, bool fit_intercept, Vector<double> coef,
                             double intercept) {
  require_length("y", y.size(), n_rows(matrix.view), kRow);
  require_length("weight", weight.size(), n_rows(matrix.view), kRow);
  require_length("coef", coef.size(), n_cols(matrix.view), "column of the matrix");
  require_rows(as_span(order), n_rows(matrix.view));
  const Visits visits = [&] {
    const nb::gil_scoped_release unlocked;
    return perceptron_pass(matrix.view, as_span(y), as_span(weight), as_span(order), step,
                           fit_intercept, as_span(coef), intercept);
  }();
  return nb::make_tuple(visits.n_made, copy_array<std::int64_t>(visits.mistakes), intercept);
}

}  // namespace

void bind_solvers(nb::module_& module) {
  nb::class_<DualCoordinateDescent>(
      module, "DualCoordinateDescent", nb::is_final(),
      "Dual coordinate descent for linear machines; used by one thread at a time.")
      .def("__init__", &construct, nb::keep_alive<1, 2>(), "matrix"_a, "y"_a.noconvert(),
           "target"_a.noconvert(), "weight"_a.noconvert(), nb::kw_only(), "loss"_a,
           "epsilon"_a = 0.0, "rho"_a = 0.0, "free_intercept"_a = false, "balance"_a = 0.0,
           "order"_a = "shuffled", "shrinking"_a = true, "seed"_a, "n_threads"_a = 1)
      .def("run", &run, "n_sweeps"_a, "tolerance"_a,
           "Make up to n_sweeps sweeps; the number made and the violation that is left.")
      .def("set_alpha", &set_alpha, "alpha"_a.noconvert(), "intercept"_a,
           "Start from this alpha, and from this intercept if it is free.")
      .def("state", &state, nb::rv_policy::move, "All that a later run depends on.")
      .def("restore", &restore, "alpha"_a.noconvert(), "w"_a.noconvert(), "shift"_a, "excess"_a,
           "n_swept"_a, "multiplier_due"_a, "Go on from a state.")
      .def_prop_ro("alpha", &copy_alpha, nb::rv_policy::move)
      .def_prop_ro("w", &copy_w, nb::rv_policy::move)
      .def_prop_ro("scores", &copy_scores, nb::rv_policy::move)
      .def_prop_ro("intercept", &DualCoordinateDescent::intercept);
  module.def(
      "perceptron_pass", &py_perceptron_pass, "matrix"_a, "y"_a.noconvert(), "weight"_a.noconvert(),
      "order"_a.noconvert(), "step"_a, "fit_intercept"_a, "coef"_a.noconvert(), "intercept"_a,
      "One pass; coef is updated in place, and the number of visits, the mistakes and the new "
      "intercept are returned.");
}

}  // namespace hedgerow::bindings
