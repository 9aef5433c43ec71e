#include <nanobind/stl/shared_ptr.h>

#include <memory>

#include "arrays.hpp"
#include "hedgerow/solver/box_qp.hpp"
#include "places.hpp"

namespace hedgerow::bindings {
namespace {

constexpr const char* kVariable = "variable";
constexpr const char* kPoint = "point";

/// The vectors of a program as Python has them, checked against the number of its variables.
struct ProgramArrays {
  Vector<const double> linear, lower, upper, ridge, diagonal;
  Vector<const std::uint8_t> group;
  bool keeps_sums;

  BoxQp::Problem checked(std::int64_t n_variables, std::int64_t n_points) const {
    for (const auto* vector : {&linear, &lower, &upper, &ridge})
      require_length("a vector", vector->size(), n_variables, kVariable);
    require_length("group", group.size(), n_variables, kVariable);
    require_length("diagonal", diagonal.size(), n_points, kPoint);
    for (const std::uint8_t g : as_span(group))
      if (g > 1) throw nb::value_error("a group must be 0 or 1.");
    return {as_span(linear),   as_span(lower), as_span(upper), as_span(ridge),
            as_span(diagonal), as_span(group), keeps_sums};
  }
};

void construct(BoxQp* self, std::shared_ptr<KernelSource> source, const ProgramArrays& program,
               Vector<const double> beta, Vector<const double> scores, std::int64_t bytes,
               std::int64_t working_set, int n_threads) {
  const auto n = static_cast<std::int64_t>(beta.size());
  const std::int64_t n_points = source->n_points();
  if (n != n_points && n != 2 * n_points)
    throw nb::value_error("there must be one variable or two for each point.");
  require_length("scores", scores.size(), n_points, kPoint);
  const BoxQp::Problem problem = program.checked(n, n_points);
  new (self) BoxQp(std::move(source), problem, as_span(beta), as_span(scores),
                   {bytes, working_set, n_threads});
}

void restart(BoxQp& self, const ProgramArrays& program, Vector<const double> beta,
             Vector<const double> scores) {
  require_length("beta", beta.size(), self.n_variables(), kVariable);
  require_length("scores", scores.size(), self.n_points(), kPoint);
  self.restart(program.checked(self.n_variables(), self.n_points()), as_span(beta),
               as_span(scores));
}

void activate(BoxQp& self, Vector<const std::int64_t> points) {
  require_rows(as_span(points), self.n_points());
  for (const std::int64_t p : as_span(points))
    if (self.is_active()[p]) throw nb::value_error("a point to be activated is active already.");
  const nb::gil_scoped_release unlocked;
  self.activate(as_span(points));
}

nb::tuple run(BoxQp& self, std::int64_t n_rounds, std::int64_t n_steps, double tolerance) {
  const auto report = [&] {
    const nb::gil_scoped_release unlocked;
    return self.run(n_rounds, n_steps, tolerance);
  }();
  return nb::make_tuple(report.rounds, report.steps, report.violation, report.has_stalled);
}

void look(BoxQp& self) {
  const nb::gil_scoped_release unlocked;
  self.look();
}

void set_linear(BoxQp& self, Vector<const double> linear) {
  require_length("linear", linear.size(), self.n_variables(), "variable");
  self.set_linear(as_span(linear));
}

void set_beta(BoxQp& self, Vector<const double> beta, Vector<const double> scores) {
  require_length("beta", beta.size(), self.n_variables(), kVariable);
  require_length("scores", scores.size(), self.n_points(), kPoint);
  self.set_beta(as_span(beta), as_span(scores));
}

nb::dict state(const BoxQp& self) {
  const BoxQp::State now = self.state();
  nb::dict found;
  found["beta"] = copy_array<double>(now.beta).cast();
  found["scores"] = copy_array<double>(now.scores).cast();
  found["seen"] = copy_array<double>(now.seen).cast();
  found["points"] = copy_array<std::int64_t>(now.points).cast();
  found["ends"] = copy_array<std::int64_t>(now.ends).cast();
  add_places(now.places, found);
  return found;
}

void set_state(BoxQp& self, Vector<const double> beta, Vector<const double> scores,
               Vector<const double> seen, Vector<const std::int64_t> points,
               Vector<const std::int64_t> ends, Vector<const std::int64_t> slot,
               Vector<const std::int64_t> last_wanted, Vector<const std::int64_t> computed) {
  require_length("beta", beta.size(), self.n_variables(), kVariable);
  require_length("scores", scores.size(), self.n_points(), kPoint);
  require_length("seen", seen.size(), self.n_points(), kPoint);
  require_rows(as_span(points), self.n_points());
  const auto n_active = static_cast<std::int64_t>(points.size());
  require_rows(as_span(ends), n_active + 1);
  if (!std::is_sorted(ends.data(), ends.data() + ends.size()) ||
      (ends.size() == 0 ? 0 : ends.data()[ends.size() - 1]) != n_active)
    throw nb::value_error("the ends must rise to the number of points.");
  WorkingPlaces places =
      checked_places(slot, last_wanted, computed, self.n_places(),
                     n_active * (self.n_variables() / std::max<std::int64_t>(self.n_points(), 1)));
  const nb::gil_scoped_release unlocked;
  self.set_state({copied(beta), copied(scores), copied(seen), copied(points), copied(ends),
                  std::move(places)});
}

}  // namespace

void bind_box_qp(nb::module_& module) {
  nb::class_<ProgramArrays>(module, "Program", nb::is_final(),
                            "The vectors of a QP, whose memory must outlive it.")
      .def(
          "__init__",
          [](ProgramArrays* self, Vector<const double> linear, Vector<const double> lower,
             Vector<const double> upper, Vector<const double> ridge, Vector<const double> diagonal,
             Vector<const std::uint8_t> group, bool keeps_sums) {
            new (self) ProgramArrays{std::move(linear), std::move(lower),    std::move(upper),
                                     std::move(ridge),  std::move(diagonal), std::move(group),
                                     keeps_sums};
          },
          nb::kw_only(), "linear"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(),
          "ridge"_a.noconvert(), "diagonal"_a.noconvert(), "group"_a.noconvert(), "keeps_sums"_a);
  nb::class_<BoxQp>(module, "BoxQp", nb::is_final(),
                    "The QP of a kernel machine, by decomposition; used by one thread at a time.")
      .def("__init__", &construct, nb::keep_alive<1, 2>(), "source"_a, "program"_a, nb::kw_only(),
           "beta"_a.noconvert(), "scores"_a.noconvert(), "n_bytes"_a, "working_set"_a,
           "n_threads"_a)
      .def("restart", &restart, "program"_a, nb::kw_only(), "beta"_a.noconvert(),
           "scores"_a.noconvert(), "Go on with another program over the same points.")
      .def("activate", &activate, "points"_a.noconvert(), "Let more points take part.")
      .def(
          "run", &run, "n_rounds"_a, "n_steps"_a, "tolerance"_a,
          "Make up to so many rounds and steps; the rounds and steps made, the violation of the active "
          "points, and whether a round moved nothing.")
      .def("look", &look, "Bring the scores of the points that rest up to date.")
      .def("set_linear", &set_linear, "linear"_a.noconvert(), "Go on with another linear term.")
      .def("set_beta", &set_beta, "beta"_a.noconvert(), "scores"_a.noconvert(),
           "Go on from another beta with the same sums.")
      .def_prop_ro(
          "beta", [](const BoxQp& self) { return copy_array<double>(self.beta()); },
          nb::rv_policy::move)
      .def_prop_ro(
          "scores", [](const BoxQp& self) { return copy_array<double>(self.scores()); },
          nb::rv_policy::move)
      .def_prop_ro(
          "is_active", [](const BoxQp& self) { return copy_array<std::uint8_t>(self.is_active()); },
          nb::rv_policy::move)
      .def_prop_ro("state", &state, "All that later rounds depend on, for set_state.")
      .def("set_state", &set_state, nb::kw_only(), "beta"_a.noconvert(), "scores"_a.noconvert(),
           "seen"_a.noconvert(), "points"_a.noconvert(), "ends"_a.noconvert(), "slot"_a.noconvert(),
           "last_wanted"_a.noconvert(), "computed"_a.noconvert(),
           "Go on from a state of a solver of the same program.");
}

}  // namespace hedgerow::bindings
