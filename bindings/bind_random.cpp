#include <algorithm>
#include <numeric>

#include "arrays.hpp"
#include "hedgerow/system/random.hpp"

namespace hedgerow::bindings {
namespace {

/// An array of n values drawn one after the other.
template <class T, class Draw>
NewArray<T, 1> draw_array(std::size_t n, Draw draw) {
  auto out = make_array<T, 1>({n});
  const nb::gil_scoped_release unlocked;
  std::generate_n(out.data(), n, draw);
  return out;
}

NewArray<std::uint64_t, 1> random_uint64(std::uint64_t seed, std::uint64_t stream, std::size_t n) {
  return draw_array<std::uint64_t>(n,
                                   [g = Philox(seed, stream)]() mutable { return g.next_u64(); });
}

NewArray<double, 1> random_uniform(std::uint64_t seed, std::uint64_t stream, std::size_t n) {
  return draw_array<double>(n, [g = Philox(seed, stream)]() mutable { return g.uniform(); });
}

NewArray<std::int64_t, 1> random_permutation(std::uint64_t seed, std::uint64_t stream,
                                             std::size_t n) {
  auto out = make_array<std::int64_t, 1>({n});
  const nb::gil_scoped_release unlocked;
  std::iota(out.data(), out.data() + n, std::int64_t{0});
  Philox(seed, stream).shuffle(as_span(out));
  return out;
}

NewArray<std::int64_t, 1> random_below(std::uint64_t seed, std::uint64_t stream, std::int64_t bound,
                                       std::size_t n) {
  if (bound < 1)
    throw nb::value_error(
        ("bound is " + std::to_string(bound) + ": give a positive number to draw below.").c_str());
  return draw_array<std::int64_t>(n, [bound, g = Philox(seed, stream)]() mutable {
    return static_cast<std::int64_t>(g.below(static_cast<std::uint64_t>(bound)));
  });
}

}  // namespace

void bind_random(nb::module_& module) {
  module.def("random_uint64", &random_uint64, "seed"_a, "stream"_a, "n"_a,
             "Words of the stream, the same as numpy.random.Philox(key=[seed, stream]).");
  module.def("random_uniform", &random_uniform, "seed"_a, "stream"_a, "n"_a, "Uniform on [0, 1).");
  module.def("random_permutation", &random_permutation, "seed"_a, "stream"_a, "n"_a,
             "A permutation of 0 ... n - 1.");
  module.def("random_below", &random_below, "seed"_a, "stream"_a, "bound"_a, "n"_a,
             "Uniform on 0 ... bound - 1.");
}

}  // namespace hedgerow::bindings
