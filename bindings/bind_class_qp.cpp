#include <nanobind/stl/shared_ptr.h>

#include <memory>

#include "arrays.hpp"
#include "hedgerow/solver/class_qp.hpp"
#include "places.hpp"

namespace hedgerow::bindings {
namespace {

constexpr const char* kPoint = "point";

using Values = Table<const double>;

/// ValueError unless the tables have a row a point and a column a class.
ClassQp::Point point_of(Values beta, Values scores, Vector<const double> intercept, std::int64_t n,
                        std::int64_t n_classes) {
  require_length("beta", beta.shape(0), n, kPoint);
  require_length("a row of beta", beta.shape(1), n_classes, "class");
  require_length("scores", scores.shape(0), n, kPoint);
  require_length("a row of scores", scores.shape(1), n_classes, "class");
  require_length("intercept", intercept.size(), n_classes, "class");
  return {as_span(beta), as_span(scores), as_span(intercept)};
}

void construct(ClassQp* self, std::shared_ptr<KernelSource> source,
               Vector<const std::int64_t> label, Vector<const double> weight,
               Vector<const double> diagonal, double rho, Values beta, Values scores,
               Vector<const double> intercept, std::int64_t bytes, std::int64_t working_set,
               int n_threads) {
  const std::int64_t n = source->n_points();
  const auto n_classes = static_cast<std::int64_t>(intercept.size());
  require_length("label", label.size(), n, kPoint);
  require_length("weight", weight.size(), n, kPoint);
  require_length("diagonal", diagonal.size(), n, kPoint);
  for (const std::int64_t k : as_span(label))
    if (k < 0 || k >= n_classes) throw nb::value_error("a label must be the number of a class.");
  const ClassQp::Problem problem{as_span(label), as_span(weight), as_span(diagonal), n_classes,
                                 rho};
  const ClassQp::Point point = point_of(beta, scores, intercept, n, n_classes);
  new (self) ClassQp(std::move(source), problem, point, {bytes, working_set, n_threads});
}

nb::tuple run(ClassQp& self, std::int64_t n_rounds, std::int64_t n_steps, double tolerance) {
  const auto report = [&] {
    const nb::gil_scoped_release unlocked;
    return self.run(n_rounds, n_steps, tolerance);
  }();
  return nb::make_tuple(report.rounds, report.steps, report.violation, report.has_stalled);
}

void set_point(ClassQp& self, Values beta, Values scores, Vector<const double> intercept) {
  self.set_point(point_of(beta, scores, intercept, self.n_points(), self.n_classes()));
}

nb::dict state(const ClassQp& self) {
  const ClassQp::State now = self.state();
  nb::dict found;
  found["beta"] = copy_array<double>(now.beta).cast();
  found["scores"] = copy_array<double>(now.scores).cast();
  found["shift"] = copy_array<double>(now.shift).cast();
  found["excess"] = copy_array<double>(now.excess).cast();
  found["intercept"] = copy_array<double>(now.intercept).cast();
  add_places(now.places, found);
  return found;
}

void set_state(ClassQp& self, Vector<const double> beta, Vector<const double> scores,
               Vector<const double> shift, Vector<const double> excess,
               Vector<const double> intercept, Vector<const std::int64_t> slot,
               Vector<const std::int64_t> last_wanted, Vector<const std::int64_t> computed) {
  for (const auto* table : {&beta, &scores})
    require_length("a table", table->size(), self.n_points() * self.n_classes(), "point and class");
  for (const auto* vector : {&shift, &excess, &intercept})
    require_length("a vector", vector->size(), self.n_classes(), "class");
  WorkingPlaces places =
      checked_places(slot, last_wanted, computed, self.n_places(), self.n_points());
  const nb::gil_scoped_release unlocked;
  self.set_state({copied(beta), copied(scores), copied(shift), copied(excess), copied(intercept),
                  std::move(places)});
}

}  // namespace

void bind_class_qp(nb::module_& module) {
  nb::class_<ClassQp>(
      module, "ClassQp", nb::is_final(),
      "All classes at once with a kernel, by decomposition; used by one thread at a time.")
      .def("__init__", &construct, nb::keep_alive<1, 2>(), "source"_a, nb::kw_only(),
           "label"_a.noconvert(), "weight"_a.noconvert(), "diagonal"_a.noconvert(), "rho"_a,
           "beta"_a.noconvert(), "scores"_a.noconvert(), "intercept"_a.noconvert(), "n_bytes"_a,
           "working_set"_a, "n_threads"_a)
      .def(
          "run", &run, "n_rounds"_a, "n_steps"_a, "tolerance"_a,
          "Make up to so many rounds and steps; the rounds and steps made, the violation, and whether a "
          "round moved nothing.")
      .def("set_point", &set_point, "beta"_a.noconvert(), "scores"_a.noconvert(),
           "intercept"_a.noconvert(), "Go on from another point.")
      .def_prop_ro("state", &state, "All that later rounds depend on, for set_state.")
      .def("set_state", &set_state, nb::kw_only(), "beta"_a.noconvert(), "scores"_a.noconvert(),
           "shift"_a.noconvert(), "excess"_a.noconvert(), "intercept"_a.noconvert(),
           "slot"_a.noconvert(), "last_wanted"_a.noconvert(), "computed"_a.noconvert(),
           "Go on from a state of a solver of the same problem.")
      .def_prop_ro(
          "beta",
          [](const ClassQp& self) {
            return copy_table(self.beta(), self.n_points(), self.n_classes());
          },
          nb::rv_policy::move)
      .def_prop_ro(
          "intercept", [](const ClassQp& self) { return copy_array<double>(self.intercept()); },
          nb::rv_policy::move);
}

}  // namespace hedgerow::bindings
