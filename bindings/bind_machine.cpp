#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "hedgerow/system/hot.hpp"
#include "hedgerow/system/parallel.hpp"

namespace hedgerow::bindings {

void bind_machine(nb::module_& module) {
  module.def("isa", [] { return std::string(hot().isa); }, "The instruction set in use.");
  module.def("supported_isas", &supported_isas,
             "The instruction sets HEDGEROW_ISA may name on this machine.");
  module.def(
      "available_cores", [] { return available_cores(); },
      "The cores this process may use, by its affinity and its control groups.");
}

}  // namespace hedgerow::bindings
