#include "check.hpp"
#include "hedgerow/solver/l1_sweeps.hpp"

#include <cmath>
#include <vector>

using hedgerow::l1_sweeps;
using Vector = std::vector<double>;

TEST(one_coordinate_goes_to_its_soft_threshold) {
  // 1/2 * 2 p^2 - 5 p + |p| from p = 0 is least at (5 - 1) / 2.
  Vector point{0}, slope{-5};
  l1_sweeps(Vector{2}, Vector{1}, point, slope, 1, 0.0);
  CHECK(point[0] == 2);
  CHECK(slope[0] == -1);
}

TEST(a_price_above_the_slope_keeps_zero) {
  Vector point{0, 0}, slope{0.5, -1};
  CHECK(l1_sweeps(Vector{1, 0, 0, 1}, Vector{1, 1}, point, slope, 3, 0.0) == 0.0);
  CHECK((point == Vector{0, 0}));
}

TEST(the_conditions_hold_in_the_end) {
  const Vector hessian{4, 1, 1, 3}, price{1, 0}, start{0, 0}, g{-2, 2};
  Vector point = start, slope = g;
  CHECK(l1_sweeps(hessian, price, point, slope, 100, 1e-12) <= 1e-12);
  // Without a price the second slope is 0; the first is -1 as its coordinate is positive.
  check::near(slope[1], 0.0, 1e-12);
  check::near(slope[0], -1.0, 1e-12);
  check::near(point[0], 5.0 / 11.0, 1e-12);
  for (int j = 0; j < 2; ++j)
    check::near(slope[j], g[j] + hessian[2 * j] * point[0] + hessian[2 * j + 1] * point[1], 1e-12);
}

TEST(equal_columns_share_what_one_would_have) {
  Vector point{0, 0}, slope{-3, -3};
  CHECK(l1_sweeps(Vector{1, 1, 1, 1}, Vector{1, 1}, point, slope, 5, 1e-12) <= 1e-12);
  check::near(point[0] + point[1], 2.0, 1e-12);
}

TEST(a_coordinate_without_curvature_goes_to_zero_or_stays) {
  Vector point{3, 3}, slope{0.5, 2};
  l1_sweeps(Vector{0, 0, 0, 0}, Vector{1, 1}, point, slope, 2, 0.0);
  CHECK((point == Vector{0, 3}));
}
