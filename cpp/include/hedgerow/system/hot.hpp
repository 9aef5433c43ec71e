// Which instruction set's hot loops run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hedgerow/system/hot_loops.hpp"

namespace hedgerow {

/// The loops in use: the best this CPU runs, or those the environment variable HEDGEROW_ISA names.
/// Chosen at the first call; std::invalid_argument if the name is none of supported_isas().
const HotLoops& hot();

/// The loops of one instruction set; std::invalid_argument if it is none of supported_isas().
const HotLoops& hot(std::string_view isa);

/// The instruction sets this build holds and this CPU runs, the slowest first.
std::vector<std::string> supported_isas();

}  // namespace hedgerow
