// The best split found so far in a node, and the limits that a split must keep.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "hedgerow/tree/grower.hpp"

namespace hedgerow::tree {

struct Split {
  double worth = -std::numeric_limits<double>::infinity();
  std::uint32_t feature = 0;
  std::uint32_t cut = 0;  ///< of numbers: codes up to this one go left
  double threshold = static_cast<double>(kUndefined);
  bool missing_left = false;
  bool has_missing = false;  ///< whether a value was missing in the node
  bool is_heavier_left = false;
  std::vector<std::uint8_t> goes_left;  ///< of categories: 1 for codes that do; 2 for absent ones
  double left_level = 0, right_level = 0;

  bool is_found() const { return worth > -std::numeric_limits<double>::infinity(); }
  bool is_by_categories() const { return !goes_left.empty(); }
};

constexpr std::uint8_t kAbsent = 2;

/// Levels that the constraints above a node leave for its predictions.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

}  // namespace hedgerow::tree
