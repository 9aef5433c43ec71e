// What a working block of variables is, but for the kernel values among them.
#pragma once

#include <cstdint>
#include <vector>

namespace hedgerow {

/// For each place: the variable in it, or -1; and, by a clock of which only the order counts, when that
/// was last wanted and when its values were computed.
struct WorkingPlaces {
  std::vector<std::int64_t> slot, last_wanted, computed;
};

}  // namespace hedgerow
