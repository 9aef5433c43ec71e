#include <nanobind/stl/shared_ptr.h>

#include <memory>
#include <numeric>

#include "arrays.hpp"
#include "hedgerow/kernel/kernel.hpp"
#include "hedgerow/kernel/scorer.hpp"
#include "hedgerow/kernel/source.hpp"

namespace hedgerow::bindings {
namespace {

/// A Kernel as Python holds it.
struct OwnedKernel {
  Kernel program;
};

OwnedKernel leaf(KernelKind kind, double gamma = 1.0, double coef0 = 0.0, int degree = 1) {
  return {{{KernelStep::Does::push, {kind, gamma, coef0, degree}, 1.0}}};
}

OwnedKernel joined(const OwnedKernel& left, const OwnedKernel& right, KernelStep::Does does) {
  OwnedKernel both = left;
  both.program.insert(both.program.end(), right.program.begin(), right.program.end());
  both.program.push_back({does, {}, 1.0});
  return both;
}

OwnedKernel scaled(const OwnedKernel& kernel, double factor) {
  OwnedKernel result = kernel;
  result.program.push_back({KernelStep::Does::scale, {}, factor});
  return result;
}

bool is_given(const OwnedKernel& kernel) {
  return std::any_of(kernel.program.begin(), kernel.program.end(), [](const KernelStep& step) {
    return step.does == KernelStep::Does::push && step.shape.kind == KernelKind::gram;
  });
}

/// The numbers of its steps: equal kernels have equal ones.
nb::list parts(const OwnedKernel& kernel) {
  nb::list steps;
  for (const auto& [does, shape, factor] : kernel.program)
    steps.append(nb::make_tuple(static_cast<int>(does), static_cast<int>(shape.kind), shape.gamma,
                                shape.coef0, shape.degree, factor));
  return steps;
}

/// ValueError unless both matrices have the same columns, and entries of a given matrix exist.
void require_partners(const OwnedKernel& kernel, const OwnedMatrix& left,
                      const OwnedMatrix& right) {
  require_length("a row of right", static_cast<std::size_t>(n_cols(right.view)), n_cols(left.view),
                 "column of left");
  const bool is_dense = left.owners.size() == 1;
  if (is_given(kernel) && (!is_dense || n_cols(left.view) < n_rows(right.view)))
    throw nb::value_error("given kernel values must be a dense matrix with a column for each row.");
}

template <class T>
NewArray<T, 2> py_block(const OwnedKernel& kernel, const OwnedMatrix& left,
                        const OwnedMatrix& right, Vector<const std::int64_t> rows,
                        Vector<const std::int64_t> columns, int n_threads) {
  require_partners(kernel, left, right);
  require_rows(as_span(rows), n_rows(left.view));
  require_rows(as_span(columns), n_rows(right.view));
  auto out = make_array<T, 2>({rows.size(), columns.size()});
  const nb::gil_scoped_release unlocked;
  const KernelValues values(kernel.program, left.view, right.view, n_threads);
  kernel_block<T>(values, as_span(rows), as_span(columns), as_span(out), n_threads);
  return out;
}

NewArray<double, 2> py_sums(const OwnedKernel& kernel, const OwnedMatrix& left,
                            const OwnedMatrix& right, Table<const double> coef, bool exact,
                            int n_threads) {
  require_partners(kernel, left, right);
  require_length("coef", coef.shape(0), n_rows(left.view), "row of left");
  const auto k = static_cast<std::int64_t>(coef.shape(1));
  auto out = make_array<double, 2>(
      {static_cast<std::size_t>(n_rows(right.view)), static_cast<std::size_t>(k)});
  const nb::gil_scoped_release unlocked;
  const KernelValues values(kernel.program, left.view, right.view, n_threads);
  if (exact)
    kernel_sums<double>(values, as_span(coef), k, as_span(out), n_threads);
  else
    kernel_sums<float>(values, as_span(coef), k, as_span(out), n_threads);
  return out;
}

NewArray<double, 1> py_diagonal(const OwnedKernel& kernel, const OwnedMatrix& matrix,
                                int n_threads) {
  require_partners(kernel, matrix, matrix);
  auto out = make_array<double, 1>({static_cast<std::size_t>(n_rows(matrix.view))});
  const nb::gil_scoped_release unlocked;
  kernel_diagonal(KernelValues(kernel.program, matrix.view, matrix.view, n_threads), as_span(out),
                  n_threads);
  return out;
}

nb::tuple py_rounding(const OwnedKernel& kernel, const OwnedMatrix& matrix, bool is_precise,
                      int n_threads) {
  require_partners(kernel, matrix, matrix);
  KernelRounding rounding;
  {
    const nb::gil_scoped_release unlocked;
    rounding = kernel_rounding(kernel.program, matrix.view, is_precise, n_threads);
  }
  return nb::make_tuple(copy_array<double>(rounding.sizes).cast(), rounding.error);
}

NewArray<double, 2> py_precise_sums(const OwnedKernel& kernel, Table<const double> rows,
                                    Table<const double> coef, int n_threads) {
  require_length("coef", coef.shape(0), static_cast<std::int64_t>(rows.shape(0)), "row");
  if (is_given(kernel))
    require_length("a row", rows.shape(1), static_cast<std::int64_t>(rows.shape(0)), "row");
  auto out = make_array<double, 2>({coef.shape(0), coef.shape(1)});
  const nb::gil_scoped_release unlocked;
  precise_kernel_sums(kernel.program, as_span(rows), static_cast<std::int64_t>(rows.shape(1)),
                      as_span(coef), static_cast<std::int64_t>(coef.shape(1)), as_span(out),
                      n_threads);
  return out;
}

/// A kernel only Python knows: function(rows, columns) returns a block of float64 values.
class PythonKernelSource : public KernelSource {
 public:
  PythonKernelSource(nb::callable function, std::int64_t n_points)
      : function_(std::move(function)), n_points_(n_points) {}

  std::int64_t n_points() const override { return n_points_; }
  bool is_cheap() const override { return false; }
  bool is_threaded() const override { return false; }

  void for_pieces(std::span<const std::int64_t> rows, std::span<const std::int64_t> columns,
                  const std::function<void(const KernelPiece&)>& use) const override {
    const auto height = static_cast<std::int64_t>(rows.size());
    const auto breadth = static_cast<std::int64_t>(columns.size());
    if (height == 0 || breadth == 0) return;
    std::vector<float> values(rows.size() * columns.size());
    {
      const nb::gil_scoped_acquire locked;
      const nb::object block = function_(copy_array<std::int64_t>(rows).cast(),
                                         copy_array<std::int64_t>(columns).cast());
      const auto array = nb::cast<Table<const double>>(block);
      if (array.shape(0) != rows.size() || array.shape(1) != columns.size())
        throw nb::value_error(
            "a block of kernel values must have a row and a column for each asked.");
      std::copy_n(array.data(), array.size(), values.data());
    }
    use({0, height, 0, breadth, values.data(), breadth});
  }

 private:
  nb::callable function_;
  std::int64_t n_points_;
};

std::shared_ptr<KernelSource> source_of_matrix(const OwnedKernel& kernel, const OwnedMatrix& matrix,
                                               int n_threads) {
  require_partners(kernel, matrix, matrix);
  const nb::gil_scoped_release unlocked;
  return std::make_shared<MatrixKernelSource>(kernel.program, matrix.view, n_threads);
}

std::shared_ptr<KernelSource> source_of_pair(std::shared_ptr<KernelSource> all,
                                             Table<const float> within_first,
                                             Table<const float> within_second) {
  for (const auto* within : {&within_first, &within_second})
    require_length("a row of values within a class", within->shape(1),
                   static_cast<std::int64_t>(within->shape(0)), "point");
  require_length("the points of both classes", within_first.shape(0) + within_second.shape(0),
                 all->n_points(), "point");
  return std::make_shared<PairSource>(std::move(all), as_span(within_first),
                                      as_span(within_second));
}

std::shared_ptr<KernelSource> source_of_signs(std::shared_ptr<KernelSource> plain,
                                              Vector<const double> signs) {
  require_length("signs", signs.size(), plain->n_points(), "point");
  return std::make_shared<SignedSource>(
      std::move(plain), std::vector<float>(signs.data(), signs.data() + signs.size()));
}

void construct_scorer(KernelScorer* self, const OwnedKernel& kernel, const OwnedMatrix& vectors,
                      Table<const double> coef, Vector<const std::int64_t> segments,
                      Table<const std::int64_t> hyperplanes, std::int64_t n_hyperplanes) {
  require_length("a line of coef", coef.shape(1), n_rows(vectors.view), "vector");
  require_length("hyperplanes", hyperplanes.shape(0), static_cast<std::int64_t>(segments.size()),
                 "segment");
  require_length("a line of hyperplanes", hyperplanes.shape(1),
                 static_cast<std::int64_t>(coef.shape(0)), "line of coef");
  require_rows(as_span(segments), n_rows(vectors.view) + 1);
  require_length(
      "coef", coef.shape(1),
      std::accumulate(segments.data(), segments.data() + segments.size(), std::int64_t{0}),
      "vector of a segment");
  for (const std::int64_t hyperplane : as_span(hyperplanes))
    if (hyperplane < 0 || hyperplane >= n_hyperplanes)
      throw nb::value_error("a line goes to a hyperplane that is none.");
  if (is_given(kernel)) throw nb::value_error("given kernel values have no vectors.");
  const nb::gil_scoped_release unlocked;
  new (self) KernelScorer(kernel.program, vectors.view,
                          {as_span(coef), static_cast<std::int64_t>(coef.shape(0)),
                           as_span(segments), as_span(hyperplanes), n_hyperplanes});
}

NewArray<double, 2> py_kernel_scores(const KernelScorer& self, const OwnedMatrix& rows,
                                     int n_threads) {
  require_length("a row", static_cast<std::size_t>(n_cols(rows.view)), self.n_features(),
                 "feature of the vectors");
  auto out = make_array<double, 2>({static_cast<std::size_t>(n_rows(rows.view)),
                                    static_cast<std::size_t>(self.n_hyperplanes())});
  const nb::gil_scoped_release unlocked;
  self.scores(rows.view, as_span(out), n_threads);
  return out;
}

void bind_kernels(nb::module_& module) {
  nb::class_<OwnedKernel>(module, "Kernel", nb::is_final(), "A kernel the core can compute.")
      .def_static("linear", [] { return leaf(KernelKind::linear); })
      .def_static(
          "polynomial",
          [](double gamma, double coef0, int degree) {
            return leaf(KernelKind::polynomial, gamma, coef0, degree);
          },
          "gamma"_a, "coef0"_a, "degree"_a)
      .def_static(
          "rbf", [](double gamma) { return leaf(KernelKind::rbf, gamma); }, "gamma"_a)
      .def_static(
          "sigmoid",
          [](double gamma, double coef0) { return leaf(KernelKind::sigmoid, gamma, coef0); },
          "gamma"_a, "coef0"_a)
      .def_static("cosine", [] { return leaf(KernelKind::cosine); })
      .def_static(
          "laplacian", [](double gamma) { return leaf(KernelKind::laplacian, gamma); }, "gamma"_a)
      .def_static("additive_chi2", [] { return leaf(KernelKind::additive_chi_squared); })
      .def_static(
          "chi2", [](double gamma) { return leaf(KernelKind::chi_squared, gamma); }, "gamma"_a)
      .def_static("histogram_intersection", [] { return leaf(KernelKind::intersection); })
      .def_static(
          "wavelet", [](double dilation) { return leaf(KernelKind::wavelet, 1.0 / dilation); },
          "dilation"_a)
      .def_static(
          "precomputed", [] { return leaf(KernelKind::gram); },
          "The matrix holds the kernel values themselves.")
      .def("__add__", [](const OwnedKernel& a,
                         const OwnedKernel& b) { return joined(a, b, KernelStep::Does::add); })
      .def("__mul__", [](const OwnedKernel& a,
                         const OwnedKernel& b) { return joined(a, b, KernelStep::Does::multiply); })
      .def("scaled", &scaled, "factor"_a)
      .def_prop_ro("is_given", &is_given)
      .def_prop_ro("parts", &parts, "The numbers of its steps.");
  module.def("kernel_block", &py_block<double>, "kernel"_a, "left"_a, "right"_a,
             "rows"_a.noconvert(), "columns"_a.noconvert(), "n_threads"_a,
             "K(x, z) for some rows x of left and z of right, in float64.");
  module.def("kernel_block32", &py_block<float>, "kernel"_a, "left"_a, "right"_a,
             "rows"_a.noconvert(), "columns"_a.noconvert(), "n_threads"_a,
             "The same in float32, as solvers use it.");
  module.def("kernel_sums", &py_sums, "kernel"_a, "left"_a, "right"_a, "coef"_a.noconvert(),
             "exact"_a, "n_threads"_a,
             "The sum of coef_ic K(x_i, z_j) over the rows i of left, for each row j of right and "
             "column c; from float64 values if exact, else from float32 ones.");
  module.def("kernel_diagonal", &py_diagonal, "kernel"_a, "matrix"_a, "n_threads"_a,
             "K(x_i, x_i) for each row.");
  module.def("precise_kernel_sums", &py_precise_sums, "kernel"_a, "rows"_a.noconvert(),
             "coef"_a.noconvert(), "n_threads"_a,
             "The same sums among the rows of a table, from values in extended precision: slow.");
  module.def(
      "kernel_rounding", &py_rounding, "kernel"_a, "matrix"_a, "is_precise"_a, "n_threads"_a,
      "Sizes of the rows and an error: computed values K(x_i, x_j) are at most error * sizes[i] * "
      "sizes[j] off.");
}

}  // namespace

void bind_kernel(nb::module_& module) {
  bind_kernels(module);
  nb::class_<KernelScorer>(module, "KernelScorer", nb::is_final(),
                           "Scores of rows by support vectors, made ready once.")
      .def("__init__", &construct_scorer, nb::keep_alive<1, 3>(), "kernel"_a, "vectors"_a,
           nb::kw_only(), "coef"_a.noconvert(), "segments"_a.noconvert(),
           "hyperplanes"_a.noconvert(), "n_hyperplanes"_a,
           "The coefficients are lines of one for each vector; the lines of a segment go to its "
           "hyperplanes.")
      .def("scores", &py_kernel_scores, "rows"_a, "n_threads"_a,
           "A column a hyperplane, from values of the precision of the rows.");
  nb::class_<KernelSource>(module, "KernelSource", nb::is_final(),
                           "Where a solver has kernel values from, block by block.")
      .def_static("of_matrix", &source_of_matrix, nb::keep_alive<0, 2>(), "kernel"_a, "matrix"_a,
                  "n_threads"_a)
      .def_static(
          "of_function",
          [](nb::callable function, std::int64_t n_points) -> std::shared_ptr<KernelSource> {
            return std::make_shared<PythonKernelSource>(std::move(function), n_points);
          },
          "function"_a, "n_points"_a)
      .def_static("of_pair", &source_of_pair, nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(),
                  "points"_a, "within_first"_a.noconvert(), "within_second"_a.noconvert(),
                  "Points of two classes, whose values within either are given.")
      .def_static("of_signs", &source_of_signs, "points"_a, "signs"_a.noconvert(),
                  "Points times signs, by which their values are multiplied.")
      .def_prop_ro("n_points", &KernelSource::n_points);
}

}  // namespace hedgerow::bindings
