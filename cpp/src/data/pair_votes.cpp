#include "hedgerow/data/pair_votes.hpp"

#include <cmath>
#include <vector>

namespace hedgerow {

void votes_of_pairs(std::span<const double> scores, std::int64_t n_classes, std::span<double> out) {
  const double* score = scores.data();
  std::vector<double> sums(static_cast<std::size_t>(n_classes));
  for (double* votes = out.data(); votes != out.data() + out.size(); votes += n_classes) {
    for (std::int64_t k = 0; k < n_classes; ++k) votes[k] = sums[k] = 0.0;
    for (std::int64_t j = 0; j < n_classes; ++j)
      for (std::int64_t k = j + 1; k < n_classes; ++k, ++score) {
        votes[k] += *score > 0.0 ? 1.0 : 0.0;
        votes[j] += *score > 0.0 ? 0.0 : 1.0;
        sums[k] += *score;
        sums[j] -= *score;
      }
    for (std::int64_t k = 0; k < n_classes; ++k)
      votes[k] += sums[k] / (3.0 * (std::abs(sums[k]) + 1.0));
  }
}

}  // namespace hedgerow
