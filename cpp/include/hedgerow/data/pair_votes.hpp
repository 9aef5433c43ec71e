// Classes by the votes of pairs of them.
#pragma once

#include <cstdint>
#include <span>

namespace hedgerow {

/// out[i * n_classes + k] = the votes of class k for row i, and s / (3 (|s| + 1)) with s the sum of its
/// scores against the others: less than 1/3. The pairs (0, 1), (0, 2), ..., (1, 2), ... have a score a
/// row each, above 0 for the second class.
void votes_of_pairs(std::span<const double> scores, std::int64_t n_classes, std::span<double> out);

}  // namespace hedgerow
