#include "arrays.hpp"
#include "hedgerow/resample.hpp"

namespace hedgerow::bindings {
namespace {

NewArray<std::uint8_t, 2> py_multinomial_counts(std::uint64_t seed, std::uint64_t stream,
                                                std::int64_t size, std::size_t n_resamples) {
  if (size < 1)
    throw nb::value_error(
        ("size is " + std::to_string(size) + ": give the number of units to draw from.").c_str());
  auto out = make_array<std::uint8_t, 2>({n_resamples, static_cast<std::size_t>(size)});
  const nb::gil_scoped_release unlocked;
  multinomial_counts(seed, stream, size, as_span(out));
  return out;
}

}  // namespace

void bind_resample(nb::module_& module) {
  module.def("multinomial_counts", &py_multinomial_counts, "seed"_a, "stream"_a, "size"_a,
             "n_resamples"_a, "How often each unit is drawn in `size` draws, a row a resample.");
}

}  // namespace hedgerow::bindings
