// Fewer codes for a feature: neighbouring numbers share one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hedgerow/tree/codes.hpp"

namespace hedgerow {

/// Bins an encoded feature of more than `max_codes` numbers, of which there may be at most kMostBins. With
/// n rows that are not missing, of which `before` have smaller numbers, a number goes into the bin
/// floor(before * max_codes / n): bins are as even as they can be without parting equal numbers. Empty ones
/// are left out. What is missing keeps a code of its own.
void merge_into_bins(CodeColumn& column, std::size_t n_rows, std::uint32_t max_codes);

}  // namespace hedgerow
