#include <limits>
#include <string_view>
#include <utility>

#include "arrays.hpp"
#include "hedgerow/data/libsvm.hpp"

namespace hedgerow::bindings {
namespace {

/// An array that takes over a vector's memory.
template <class T>
NewArray<T, 1> as_array(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept,
                    [](void* memory) noexcept { delete static_cast<std::vector<T>*>(memory); });
  return NewArray<T, 1>(kept->data(), {kept->size()}, owner);
}

nb::tuple py_parse_libsvm(nb::bytes text) {
  if (text.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw nb::value_error("text has 2^31 bytes or more: give less of it at a time.");
  LibsvmRows rows = [&] {
    const std::string_view characters(text.c_str(), text.size());
    const nb::gil_scoped_release unlocked;
    return parse_libsvm(characters);
  }();
  return nb::make_tuple(as_array(std::move(rows.labels)), as_array(std::move(rows.values)),
                        as_array(std::move(rows.indices)), as_array(std::move(rows.begins)),
                        rows.n_lines, rows.is_whole);
}

}  // namespace

void bind_text(nb::module_& module) {
  module.def(
      "parse_libsvm", &py_parse_libsvm, "text"_a,
      "Labels, values, indices and row bounds of lines of a LIBSVM file, how many lines were "
      "read, and whether that is all of them: if not, the next one cannot be understood.");
}

}  // namespace hedgerow::bindings
