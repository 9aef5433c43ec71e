#include "arrays.hpp"
#include "hedgerow/solver/sequential_dual.hpp"

namespace hedgerow::bindings {
namespace {

constexpr const char* kRow = "row of the matrix";

/// ValueError unless every label is one of the classes.
void require_labels(std::span<const std::int64_t> label, std::int64_t n_classes) {
  if (n_classes < 1) throw nb::value_error("n_classes must be positive.");
  for (const std::int64_t k : label)
    if (k < 0 || k >= n_classes)
      throw nb::value_error(("label holds " + std::to_string(k) +
                             ", but classes are numbered 0 to " + std::to_string(n_classes - 1) +
                             ".")
                                .c_str());
}

void construct(SequentialDual* self, const OwnedMatrix& matrix, Vector<const std::int64_t> label,
               Vector<const double> weight, std::int64_t n_classes, double rho, bool free_intercept,
               bool shuffled, bool shrinking, std::uint64_t seed, int n_threads) {
  const std::int64_t n = n_rows(matrix.view);
  require_length("label", label.size(), n, kRow);
  require_length("weight", weight.size(), n, kRow);
  require_labels(as_span(label), n_classes);
  const SequentialDual::Problem problem{as_span(label), as_span(weight), n_classes, rho,
                                        free_intercept};
  const nb::gil_scoped_release unlocked;
  new (self) SequentialDual(matrix.view, problem, {shuffled, shrinking, seed, n_threads});
}

nb::tuple run(SequentialDual& self, std::int64_t n_sweeps, double tolerance) {
  const auto report = [&] {
    const nb::gil_scoped_release unlocked;
    return self.run(n_sweeps, tolerance);
  }();
  return nb::make_tuple(report.sweeps, report.violation);
}

nb::tuple state(const SequentialDual& self) {
  const auto state = self.state();
  return nb::make_tuple(copy_array<double>(state.alpha), copy_array<double>(state.w),
                        copy_array<double>(state.shift), copy_array<double>(state.excess),
                        state.n_swept, state.multiplier_due);
}

void restore(SequentialDual& self, Vector<const double> alpha, Vector<const double> w,
             Vector<const double> shift, Vector<const double> excess, std::int64_t n_swept,
             bool multiplier_due) {
  require_length("alpha", alpha.size(), self.n_points() * self.n_classes(), "row and class");
  require_length("w", w.size(), self.n_stored_weights(), "weight as it is stored");
  require_length("shift", shift.size(), self.n_classes(), "class");
  require_length("excess", excess.size(), self.n_classes(), "class");
  require_count("n_swept", n_swept);
  const auto values = [](const auto& array) {
    return std::vector<double>(array.data(), array.data() + array.size());
  };
  const nb::gil_scoped_release unlocked;
  self.restore({values(alpha), values(w), values(shift), values(excess), n_swept, multiplier_due});
}

NewArray<double, 2> copy_by_row(const SequentialDual& self, std::span<const double> values) {
  return copy_table(values, self.n_points(), self.n_classes());
}

NewArray<double, 2> copy_alpha(const SequentialDual& self) {
  return copy_by_row(self, self.alpha());
}

NewArray<double, 2> copy_scores(SequentialDual& self) {
  const auto scores = [&] {
    const nb::gil_scoped_release unlocked;
    return self.scores();
  }();
  return copy_by_row(self, scores);
}

NewArray<double, 2> copy_hyperplanes(const SequentialDual& self) {
  const std::vector<double> hyperplanes = self.hyperplanes();
  const auto n_values = static_cast<std::int64_t>(hyperplanes.size());
  return copy_table(hyperplanes, self.n_classes(), n_values / self.n_classes());
}

}  // namespace

void bind_sequential_dual(nb::module_& module) {
  nb::class_<SequentialDual>(
      module, "SequentialDual", nb::is_final(),
      "The sequential dual method for all classes at once; used by one thread at a time.")
      .def("__init__", &construct, nb::keep_alive<1, 2>(), "matrix"_a, "label"_a.noconvert(),
           "weight"_a.noconvert(), nb::kw_only(), "n_classes"_a, "rho"_a = 0.0,
           "free_intercept"_a = false, "shuffled"_a = true, "shrinking"_a = true, "seed"_a,
           "n_threads"_a = 1)
      .def("run", &run, "n_sweeps"_a, "tolerance"_a,
           "Make up to n_sweeps sweeps; the number made and the violation that is left.")
      .def("state", &state, nb::rv_policy::move, "All that a later run depends on.")
      .def("restore", &restore, "alpha"_a.noconvert(), "w"_a.noconvert(), "shift"_a.noconvert(),
           "excess"_a.noconvert(), "n_swept"_a, "multiplier_due"_a, "Go on from a state.")
      .def_prop_ro("alpha", &copy_alpha, nb::rv_policy::move)
      .def_prop_ro("hyperplanes", &copy_hyperplanes, nb::rv_policy::move,
                   "One a row, with its intercept last.")
      .def_prop_ro("scores", &copy_scores, nb::rv_policy::move);
}

}  // namespace hedgerow::bindings
