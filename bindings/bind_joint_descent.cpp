#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "hedgerow/solver/joint_descent.hpp"
#include "names.hpp"

namespace hedgerow::bindings {
namespace {

void construct(JointDescent* self, const OwnedMatrix& matrix, Table<const double> weight,
               const std::string& loss, double target, double rho, bool free_intercept,
               bool shrinking, std::uint64_t seed, int n_threads) {
  const auto n_hyperplanes = static_cast<std::int64_t>(weight.shape(0));
  require_length("weight", weight.size(), n_hyperplanes * n_rows(matrix.view),
                 "hyperplane and row");
  const JointDescent::Problem problem{
      as_span(weight), n_hyperplanes, target, named("loss", loss, kLosses), rho, free_intercept};
  const nb::gil_scoped_release unlocked;
  new (self) JointDescent(matrix.view, problem, {shrinking, seed, n_threads});
}

nb::tuple run(JointDescent& self, std::int64_t n_sweeps, Vector<const double> tolerance) {
  require_length("tolerance", tolerance.size(), self.n_hyperplanes(), "hyperplane");
  const auto report = [&] {
    const nb::gil_scoped_release unlocked;
    return self.run(n_sweeps, as_span(tolerance));
  }();
  return nb::make_tuple(copy_array<double>(report.sweeps), copy_array<double>(report.violation),
                        report.n_visits, report.n_rows_visited);
}

void set_alpha(JointDescent& self, Table<const double> alpha, Vector<const double> intercept) {
  require_length("alpha", alpha.size(), self.n_hyperplanes() * self.n_points(),
                 "hyperplane and row");
  require_length("intercept", intercept.size(), self.n_hyperplanes(), "hyperplane");
  const nb::gil_scoped_release unlocked;
  self.set_alpha(as_span(alpha), as_span(intercept));
}

void retire(JointDescent& self, std::int64_t hyperplane) {
  if (hyperplane < 0 || hyperplane >= self.n_hyperplanes())
    throw nb::value_error("There is no such hyperplane.");
  self.retire(hyperplane);
}

/// What `values`, hyperplane after hyperplane, are: a row each.
NewArray<double, 2> by_hyperplane(const JointDescent& self, const std::vector<double>& values) {
  const auto n_values = static_cast<std::int64_t>(values.size());
  return copy_table(values, self.n_hyperplanes(), n_values / self.n_hyperplanes());
}

NewArray<double, 2> copy_alpha(const JointDescent& self) {
  return by_hyperplane(self, self.alpha());
}
NewArray<double, 2> copy_w(const JointDescent& self) { return by_hyperplane(self, self.w()); }

NewArray<double, 2> copy_scores(JointDescent& self) {
  const auto scores = [&] {
    const nb::gil_scoped_release unlocked;
    return self.scores();
  }();
  return by_hyperplane(self, scores);
}

template <auto values>
NewArray<double, 1> copy_of(const JointDescent& self) {
  return copy_array<double>((self.*values)());
}

}  // namespace

void bind_joint_descent(nb::module_& module) {
  nb::class_<JointDescent>(
      module, "JointDescent", nb::is_final(),
      "Dual coordinate descent for several hyperplanes at once; used by one thread at a time.")
      .def("__init__", &construct, nb::keep_alive<1, 2>(), "matrix"_a, "weight"_a.noconvert(),
           nb::kw_only(), "loss"_a, "target"_a, "rho"_a = 0.0, "free_intercept"_a = false,
           "shrinking"_a = true, "seed"_a, "n_threads"_a = 1)
      .def("run", &run, "n_sweeps"_a, "tolerance"_a.noconvert(),
           "Make up to n_sweeps sweeps; of each hyperplane the sweeps made and the violation that "
           "is "
           "left, then how often a hyperplane and how often a row was visited.")
      .def("set_alpha", &set_alpha, "alpha"_a.noconvert(), "intercept"_a.noconvert(),
           "Start from these alphas, and from these intercepts if they are free.")
      .def("retire", &retire, "hyperplane"_a, "Leave a hyperplane as it is from now on.")
      .def_prop_ro("n_swept", &JointDescent::n_swept)
      .def_prop_ro("alpha", &copy_alpha, nb::rv_policy::move)
      .def_prop_ro("w", &copy_w, nb::rv_policy::move)
      .def_prop_ro("scores", &copy_scores, nb::rv_policy::move)
      .def_prop_ro("intercept", &copy_of<&JointDescent::intercept>, nb::rv_policy::move)
      .def_prop_ro("excess", &copy_of<&JointDescent::excess>, nb::rv_policy::move);
}

}  // namespace hedgerow::bindings
