#include "arrays.hpp"
#include "hedgerow/solver/l1_sweeps.hpp"

namespace hedgerow::bindings {
namespace {

double py_l1_sweeps(Table<const double> hessian, Vector<const double> price, Vector<double> point,
                    Vector<double> slope, std::int64_t n_sweeps, double tolerance) {
  const auto m = static_cast<std::int64_t>(point.size());
  require_length("a column of hessian", hessian.shape(0), m, "value of point");
  require_length("a row of hessian", hessian.shape(1), m, "value of point");
  require_length("price", price.size(), m, "value of point");
  require_length("slope", slope.size(), m, "value of point");
  const nb::gil_scoped_release unlocked;
  return l1_sweeps(as_span(hessian), as_span(price), as_span(point), as_span(slope), n_sweeps,
                   tolerance);
}

}  // namespace

void bind_l1(nb::module_& module) {
  module.def("l1_sweeps", &py_l1_sweeps, "hessian"_a.noconvert(), "price"_a.noconvert(),
             "point"_a.noconvert(), "slope"_a.noconvert(), "n_sweeps"_a, "tolerance"_a,
             "Coordinate descent on a quadratic with prices on |point_j|; point and slope are "
             "updated in place, and the largest violation of the last sweep is returned.");
}

}  // namespace hedgerow::bindings
