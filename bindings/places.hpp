// The places of a working block as arrays.
#pragma once

#include "arrays.hpp"
#include "hedgerow/solver/working_places.hpp"

namespace hedgerow::bindings {

template <class T>
std::vector<T> copied(const Vector<const T>& values) {
  return {values.data(), values.data() + values.size()};
}

inline void add_places(const WorkingPlaces& places, nb::dict& state) {
  state["slot"] = copy_array<std::int64_t>(places.slot).cast();
  state["last_wanted"] = copy_array<std::int64_t>(places.last_wanted).cast();
  state["computed"] = copy_array<std::int64_t>(places.computed).cast();
}

/// ValueError unless there are as many places, each with a variable that exists or none.
inline WorkingPlaces checked_places(const Vector<const std::int64_t>& slot,
                                    const Vector<const std::int64_t>& last_wanted,
                                    const Vector<const std::int64_t>& computed,
                                    std::int64_t n_places, std::int64_t n_slots) {
  for (const auto* one : {&slot, &last_wanted, &computed})
    require_length("an array of places", one->size(), n_places, "place");
  for (const std::int64_t s : as_span(slot))
    if (s < -1 || s >= n_slots) throw nb::value_error("a place has a variable that is none.");
  return {copied(slot), copied(last_wanted), copied(computed)};
}

}  // namespace hedgerow::bindings
