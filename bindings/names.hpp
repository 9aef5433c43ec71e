// Names that Python gives for what the core has numbers for.
#pragma once

#include <string>
#include <utility>

#include "arrays.hpp"
#include "hedgerow/solver/dual_coordinate_descent.hpp"

namespace hedgerow::bindings {

/// What a name stands for; ValueError, with the names there are, if it is none of them.
template <class Value, std::size_t n>
Value named(const char* argument, const std::string& name,
            const std::pair<const char*, Value> (&table)[n]) {
  std::string names;
  for (const auto& [known, value] : table) {
    if (name == known) return value;
    names += (names.empty() ? "'" : ", '") + std::string(known) + "'";
  }
  throw nb::value_error(
      (std::string(argument) + " is '" + name + "': give one of " + names + ".").c_str());
}

constexpr std::pair<const char*, DualLoss> kLosses[] = {
    {"hinge", DualLoss::hinge},
    {"squared_hinge", DualLoss::squared_hinge},
    {"logistic", DualLoss::logistic},
    {"epsilon_insensitive", DualLoss::epsilon_insensitive},
    {"squared_epsilon_insensitive", DualLoss::squared_epsilon_insensitive},
};

}  // namespace hedgerow::bindings
