#include "hedgerow/kernel/kernel.hpp"

#include <cmath>
#include <numeric>

#include "check.hpp"
#include "samples.hpp"

namespace hedgerow {
extern const HotLoops wide_loops;
}

using namespace hedgerow;
using samples::Sample;

static Kernel single(KernelKind kind) {
  return {{KernelStep::Does::push, {kind, 0.5, 0.25, 3}, 1.0}};
}

static double formula(KernelKind kind, const Sample& sample, std::int64_t i, std::int64_t j) {
  double product = 0.0, square = 0.0, absolute = 0.0;
  for (std::int64_t k = 0; k < sample.d; ++k) {
    const double difference = sample.at(i, k) - sample.at(j, k);
    product += sample.at(i, k) * sample.at(j, k);
    square += difference * difference;
    absolute += std::abs(difference);
  }
  switch (kind) {
    case KernelKind::linear:
      return product;
    case KernelKind::polynomial:
      return std::pow(0.5 * product + 0.25, 3);
    case KernelKind::rbf:
      return std::exp(-0.5 * square);
    case KernelKind::sigmoid:
      return std::tanh(0.5 * product + 0.25);
    default:
      return std::exp(-0.5 * absolute);
  }
}

static std::vector<std::int64_t> all_of(std::int64_t n) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(kernel_values_are_their_formulas_in_every_format) {
  for (const std::int64_t d : {0, 1, 17, 300}) {
    const Sample sample(140, d, 3);
    const auto all = all_of(sample.n);
    std::vector<double> exact(all.size() * all.size());
    std::vector<float> rounded(exact.size());
    for (const KernelKind kind : {KernelKind::linear, KernelKind::polynomial, KernelKind::rbf,
                                  KernelKind::sigmoid, KernelKind::laplacian})
      for (const Matrix& matrix : sample.formats()) {
        const KernelValues values(single(kind), matrix, matrix, 1);
        kernel_block<double>(values, all, all, exact, 2);
        kernel_block<float>(values, all, all, rounded, 2);
        for (std::int64_t i = 0; i < sample.n; i += 13)
          for (std::int64_t j = 0; j < sample.n; ++j) {
            const double expected = formula(kind, sample, i, j);
            const double scale = 1.0 + std::abs(expected);
            // Sums of d products below 1, and formulas that amplify errors by less than 100.
            check::near(exact[i * sample.n + j], expected, 100 * (d + 10) * 0x1p-52 * scale);
            check::near(rounded[i * sample.n + j], expected, 100 * (d + 10) * 0x1p-23 * scale);
          }
      }
  }
}

template <class T>
static void finish_agrees(const HotLoops& other) {
  constexpr std::int64_t kRows = 3, kCols = 32;
  const std::vector<double> drawn = samples::values(kRows * kCols, 4);
  const std::vector<T> of_rows(kRows, T{1}), of_cols(kCols, T{1});
  for (const KernelKind kind : {KernelKind::rbf, KernelKind::sigmoid, KernelKind::polynomial,
                                KernelKind::cosine, KernelKind::laplacian}) {
    std::vector<T> ours(drawn.begin(), drawn.end()), base = ours;
    const KernelShape shape{kind, 3.0, 0.5, 2};
    static_cast<const KernelLoops<T>&>(other).finish_tile(
        shape, {ours.data(), kCols, kRows, kCols, of_rows.data(), of_cols.data()});
    static_cast<const KernelLoops<T>&>(hot("baseline"))
        .finish_tile(shape, {base.data(), kCols, kRows, kCols, of_rows.data(), of_cols.data()});
    for (std::size_t e = 0; e < ours.size(); ++e)
      check::near(ours[e], base[e],
                  20 * std::numeric_limits<T>::epsilon() * (1 + std::abs(base[e])));
  }
}

TEST(formulas_agree_between_instruction_sets) {
  for (const std::string& isa : supported_isas()) {
    finish_agrees<float>(hot(isa));
    finish_agrees<double>(hot(isa));
  }
  finish_agrees<float>(wide_loops);
  finish_agrees<double>(wide_loops);
}

/// Products of packed strips and of scattered panels, by the loops of one instruction set.
template <class T>
static void products_agree(const HotLoops& all) {
  const KernelLoops<T>& loops = all;
  const Sample sample(150, 37, 5);
  const auto rows = all_of(loops.scatter_rows), columns = all_of(40);
  constexpr std::int64_t kLd = 64;
  const std::int64_t height =
      (loops.scatter_rows + loops.strip_rows - 1) / loops.strip_rows * loops.strip_rows;
  const std::int64_t breadth = (40 + loops.strip_cols - 1) / loops.strip_cols * loops.strip_cols;
  std::vector<T> packed_rows(height * 37), packed_cols(breadth * 37), tile(height * kLd, T{0});
  const auto dense = std::get<DenseRows<double>>(sample.formats()[1]);
  const PanelLoops<DenseRows<double>, T>& pack = all;
  pack.pack_strips(dense, rows.data(), loops.scatter_rows, 0, 37, loops.strip_rows,
                   packed_rows.data());
  pack.pack_strips(dense, columns.data(), 40, 0, 37, loops.strip_cols, packed_cols.data());
  loops.fold_features({KernelKind::linear, 1, 0, 1},
                      {packed_rows.data(), packed_cols.data(), height, breadth, 37, 37},
                      tile.data(), kLd);
  using Sparse = SparseRows<double, std::int32_t>;
  const auto sparse = std::get<Sparse>(sample.formats()[4]);
  std::vector<std::int32_t> slots(37, 0);
  std::vector<T> panel(38 * loops.scatter_rows), other(loops.scatter_rows * kLd);
  static_cast<const PanelLoops<Sparse, T>&>(all).scatter(
      sparse, rows.data(), loops.scatter_rows, loops.scatter_rows, slots.data(), panel.data());
  static_cast<const ScatteredLoops<Sparse, T>&>(all).scattered_products(
      sparse, columns.data(), 40, slots.data(), panel.data(), other.data(), kLd);
  static_cast<const RowLoops<Sparse>&>(all).forget(sparse, rows.data(), loops.scatter_rows,
                                                   slots.data());
  for (const std::int32_t slot : slots) CHECK(slot == 0);
  for (std::int64_t i = 0; i < loops.scatter_rows; ++i)
    for (std::int64_t j = 0; j < 40; ++j) {
      const double expected = formula(KernelKind::linear, sample, i, j);
      check::near(tile[i * kLd + j], expected, 100 * std::numeric_limits<T>::epsilon());
      check::near(other[i * kLd + j], expected, 100 * std::numeric_limits<T>::epsilon());
    }
}

TEST(packed_and_scattered_products_are_right_for_every_instruction_set) {
  for (const std::string& isa : supported_isas()) {
    products_agree<float>(hot(isa));
    products_agree<double>(hot(isa));
  }
  products_agree<float>(wide_loops);
  products_agree<double>(wide_loops);
}

TEST(sums_are_the_same_bits_for_any_number_of_threads) {
  const Sample sample(2100, 9, 6);
  const Matrix matrix = sample.formats()[0];
  const KernelValues values(single(KernelKind::rbf), matrix, matrix, 1);
  const std::vector<double> coef = samples::values(2100, 7);
  std::vector<double> one(2100), three(2100);
  kernel_sums<double>(values, coef, 1, one, 1);
  kernel_sums<double>(values, coef, 1, three, 3);
  CHECK(one == three);
}
