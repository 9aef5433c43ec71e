#include "hedgerow/kernel/kernel.hpp"

#include <algorithm>
#include <numeric>

#include "hedgerow/kernel/source.hpp"
#include "hedgerow/system/parallel.hpp"
#include "hedgerow/system/stop.hpp"

namespace hedgerow {
namespace {

constexpr std::int64_t kSpan = kKernelTile;

/// Calls use(first row, rows, first column, columns, tile) for tiles that together are the block; in
/// float32 after sums in T if they are to be rounded.
template <class T, bool is_rounded = false, class Use>
void for_tiles(const KernelValues& values, std::span<const std::int64_t> rows,
               std::span<const std::int64_t> columns, Use use) {
  const auto together = static_cast<std::size_t>(ReadyRows<T>::most_rows(values));
  for (std::size_t r = 0; r < rows.size(); r += together) {
    const auto some_rows = rows.subspan(r, std::min(together, rows.size() - r));
    ReadyRows<T> ready(values, some_rows);
    for (std::size_t c = 0; c < columns.size(); c += kSpan) {
      const auto some = columns.subspan(c, std::min<std::size_t>(kSpan, columns.size() - c));
      check_stop();
      if constexpr (is_rounded)
        use(r, some_rows.size(), c, some.size(), ready.rounded_tile(some));
      else
        use(r, some_rows.size(), c, some.size(), ready.tile(some));
    }
  }
}

/// Columns of which a task takes care: enough that making rows ready is little beside.
constexpr std::int64_t kColumnsPerTask = 1024;

Cut column_tasks(std::size_t n_columns) {
  const auto n = static_cast<std::int64_t>(n_columns);
  return {n, (n + kColumnsPerTask - 1) / kColumnsPerTask};
}

std::vector<std::int64_t> all_of(std::int64_t n) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

void MatrixKernelSource::for_pieces(std::span<const std::int64_t> rows,
                                    std::span<const std::int64_t> columns,
                                    const std::function<void(const KernelPiece&)>& use) const {
  const auto pass_on = [&](std::size_t r, std::size_t height, std::size_t c, std::size_t breadth,
                           const float* tile) {
    use({static_cast<std::int64_t>(r), static_cast<std::int64_t>(height),
         static_cast<std::int64_t>(c), static_cast<std::int64_t>(breadth), tile, kSpan});
  };
  if (values_.fits_float32()) return for_tiles<float>(values_, rows, columns, pass_on);
  for_tiles<double, true>(values_, rows, columns, pass_on);
}

template <class T>
void kernel_block(const KernelValues& values, std::span<const std::int64_t> rows,
                  std::span<const std::int64_t> columns, std::span<T> out, int n_threads) {
  const Cut tasks = column_tasks(columns.size());
  parallel_for(tasks.n_pieces, n_threads, [&](std::int64_t task) {
    const std::int64_t first = tasks.begin(task);
    const auto copy = [&](std::size_t r, std::size_t height, std::size_t c, std::size_t breadth,
                          const auto* tile) {
      for (std::size_t i = 0; i < height; ++i)
        std::copy_n(tile + i * kSpan, breadth, out.data() + (r + i) * columns.size() + first + c);
    };
    const auto some = columns.subspan(first, tasks.end(task) - first);
    if (values.fits_float32())
      for_tiles<T>(values, rows, some, copy);
    else
      for_tiles<double>(values, rows, some, copy);
  });
}

template void kernel_block(const KernelValues&, std::span<const std::int64_t>,
                           std::span<const std::int64_t>, std::span<float>, int);
template void kernel_block(const KernelValues&, std::span<const std::int64_t>,
                           std::span<const std::int64_t>, std::span<double>, int);

template <class T>
void kernel_sums(const KernelValues& values, std::span<const double> coef, std::int64_t k,
                 std::span<double> out, int n_threads) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < n_rows(values.left()); ++i) {
    const auto of_row = coef.subspan(i * k, k);
    if (std::any_of(of_row.begin(), of_row.end(), [](double c) { return c != 0.0; }))
      rows.push_back(i);
  }
  const std::vector<std::int64_t> columns = all_of(n_rows(values.right()));
  const Cut tasks = column_tasks(columns.size());
  parallel_for(tasks.n_pieces, n_threads, [&](std::int64_t task) {
    const std::int64_t first = tasks.begin(task), n = tasks.end(task) - first;
    std::vector<double> sums(static_cast<std::size_t>(k * n), 0.0), delta(kSpan);
    const auto add = [&]<class V>(std::size_t r, std::size_t height, std::size_t c,
                                  std::size_t breadth, const V* tile) {
      const KernelLoops<V>& loops = hot();
      const V* lines[kSpan];
      for (std::size_t i = 0; i < height; ++i) lines[i] = tile + i * kSpan;
      for (std::int64_t j = 0; j < k; ++j) {
        for (std::size_t i = 0; i < height; ++i) delta[i] = coef[rows[r + i] * k + j];
        loops.add_kernel_rows(lines, delta.data(), static_cast<std::int64_t>(height),
                              static_cast<std::int64_t>(breadth), sums.data() + j * n + c);
      }
    };
    const auto some = std::span<const std::int64_t>(columns).subspan(first, n);
    if (values.fits_float32())
      for_tiles<T>(values, rows, some, add);
    else
      for_tiles<double>(values, rows, some, add);
    for (std::int64_t c = 0; c < n; ++c)
      for (std::int64_t j = 0; j < k; ++j) out[(first + c) * k + j] = sums[j * n + c];
  });
}

template void kernel_sums<float>(const KernelValues&, std::span<const double>, std::int64_t,
                                 std::span<double>, int);
template void kernel_sums<double>(const KernelValues&, std::span<const double>, std::int64_t,
                                  std::span<double>, int);

void kernel_diagonal(const KernelValues& values, std::span<double> out, int n_threads) {
  const std::vector<std::int64_t> all = all_of(n_rows(values.left()));
  constexpr std::int64_t kGroup = 16;
  const auto n = static_cast<std::int64_t>(all.size());
  const Cut groups{n, (n + kGroup - 1) / kGroup};
  parallel_for(groups.n_pieces, n_threads, [&](std::int64_t group) {
    const std::int64_t begin = groups.begin(group), size = groups.end(group) - begin;
    const auto some = std::span<const std::int64_t>(all).subspan(begin, size);
    ReadyRows<double> ready(values, some);
    const double* tile = ready.tile(some);
    for (std::int64_t i = 0; i < size; ++i) out[begin + i] = tile[i * kSpan + i];
  });
}

}  // namespace hedgerow
