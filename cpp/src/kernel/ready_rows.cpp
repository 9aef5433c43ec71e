#include "hedgerow/kernel/kernel.hpp"

#include <algorithm>

#include "hedgerow/data/algebra.hpp"
#include "hedgerow/system/parallel.hpp"
#include "kernel/parts.hpp"

namespace hedgerow {
namespace {

constexpr std::int64_t kSpan = kKernelTile;

/// Features folded at a time: strips of both sides stay in the second-level cache.
constexpr std::int64_t kDepth = 256;

/// What one thread needs to make tiles, kept by it: fresh memory for every tile would cost more than
/// the tile.
template <class T>
struct Workshop {
  std::vector<T> packed_rows, packed_cols, panels, of_rows, of_cols;
  std::vector<float> narrow_panels;
  std::vector<std::int32_t> slots;
};

template <class T>
Workshop<T>& workshop() {
  static thread_local Workshop<T> here;
  return here;
}

/// What the formula of a kernel needs of each row beside the products.
template <class T>
void write_extras(KernelKind kind, const std::vector<double>& sq_norms,
                  std::span<const std::int64_t> rows, std::vector<T>& out) {
  make_room(out, kSpan + 64);
  if (sq_norms.empty()) return;
  for (std::size_t r = 0; r < rows.size(); ++r)
    out[r] = static_cast<T>(extra_of(kind, sq_norms[rows[r]]));
}

template <class T>
std::int64_t most_lines(const DenseRows<T>& rows, std::span<const std::int64_t>) {
  return rows.n_cols + 1;
}

template <class T, class I>
std::int64_t most_lines(const SparseRows<T, I>& rows, std::span<const std::int64_t> selected) {
  std::int64_t n = 0;
  for (const std::int64_t i : selected) n += rows.indptr[i + 1] - rows.indptr[i];
  return std::min(n, rows.n_cols) + 1;
}

/// Entries of a given matrix of values.
template <class T, class S>
void copy_entries(const DenseRows<S>& gram, std::span<const std::int64_t> rows,
                  std::span<const std::int64_t> columns, T* out) {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const S* entries = gram.values + rows[r] * gram.row_stride;
    for (std::size_t c = 0; c < columns.size(); ++c)
      out[r * kSpan + c] = static_cast<T>(entries[columns[c]]);
  }
}

template <class T, class S, class I>
void copy_entries(const SparseRows<S, I>&, std::span<const std::int64_t>,
                  std::span<const std::int64_t>, T*) {
  throw std::invalid_argument("a matrix of kernel values must be dense");
}

template <class T>
bool is_sparse(const DenseRows<T>&) {
  return false;
}

template <class T, class I>
bool is_sparse(const SparseRows<T, I>&) {
  return true;
}

bool has_float32_rows(const KernelValues& values) {
  return std::visit(
      [](const auto& left) {
        return std::is_same_v<typename std::decay_t<decltype(left)>::Value, float>;
      },
      values.left());
}

}  // namespace

KernelValues::KernelValues(Kernel kernel, const Matrix& left, const Matrix& right, int n_threads)
    : kernel_(std::move(kernel)), left_(left), right_(right) {
  has_sparse_columns_ = std::visit([](const auto& rows) { return is_sparse(rows); }, right_);
  double largest = 0.0;
  if (wants_norms(kernel_)) {
    left_sq_norms_.resize(static_cast<std::size_t>(n_rows(left_)));
    right_sq_norms_.resize(static_cast<std::size_t>(n_rows(right_)));
    row_sq_norms(left_, left_sq_norms_, n_threads);
    row_sq_norms(right_, right_sq_norms_, n_threads);
    for (const auto* norms : {&left_sq_norms_, &right_sq_norms_})
      for (const double sq_norm : *norms) largest = std::max(largest, sq_norm);
  }
  kernel_ = without_cancellation(std::move(kernel_), largest, n_cols(left_));
  fits_float32_ = hedgerow::fits_float32(kernel_, largest);
}

template <class T>
ReadyRows<T>::ReadyRows(const KernelValues& values, std::span<const std::int64_t> rows)
    : values_(values), rows_(rows) {}

/// One panel of scattered rows, which then stays in the cache.
template <class T>
std::int64_t ReadyRows<T>::most_rows(const KernelValues& values) {
  return values.has_sparse_columns() ? std::min(kernel_loops<T>().scatter_rows, kSpan) : kSpan;
}

template <class T>
ReadyRows<T>::~ReadyRows() {
  if (!is_scattered_) return;
  const std::int64_t width = kernel_loops<T>().scatter_rows;
  std::visit(
      [&](const auto& left) {
        const RowLoops<std::decay_t<decltype(left)>>& of_left = hot();
        std::int32_t* slots = workshop<T>().slots.data();
        const auto n = static_cast<std::int64_t>(rows_.size());
        for (std::int64_t r = 0; r < n; r += width, slots += left.n_cols)
          of_left.forget(left, rows_.data() + r, std::min(width, n - r), slots);
      },
      values_.left());
}

template <class T>
void ReadyRows<T>::fold_packed(const KernelShape& shape, std::span<const std::int64_t> columns,
                               T* out) {
  Workshop<T>& shop = workshop<T>();
  const std::int64_t height =
      whole(static_cast<std::int64_t>(rows_.size()), kernel_loops<T>().strip_rows);
  const std::int64_t breadth =
      whole(static_cast<std::int64_t>(columns.size()), kernel_loops<T>().strip_cols);
  const std::int64_t n_features = n_cols(values_.left());
  std::fill_n(out, height * kSpan, empty_fold<T>(shape.kind));
  const auto pack = [&](const Matrix& matrix, std::span<const std::int64_t> selected,
                        std::int64_t begin, std::int64_t end, std::int64_t width, T* packed) {
    std::visit(
        [&](const auto& rows) {
          const PanelLoops<std::decay_t<decltype(rows)>, T>& panel = hot();
          panel.pack_strips(rows, selected.data(), static_cast<std::int64_t>(selected.size()),
                            begin, end, width, packed);
        },
        matrix);
  };
  const std::int64_t n_stretches = std::max<std::int64_t>((n_features + kDepth - 1) / kDepth, 1);
  const Cut stretches{n_features, n_stretches};
  make_room(shop.packed_rows, height * n_features);
  make_room(shop.packed_cols, breadth * (n_features / n_stretches + 1));
  for (std::int64_t s = 0; s < n_stretches; ++s) {
    const std::int64_t begin = stretches.begin(s), end = stretches.end(s);
    T* packed_rows = shop.packed_rows.data() + height * begin;
    if (!is_packed_)
      pack(values_.left(), rows_, begin, end, kernel_loops<T>().strip_rows, packed_rows);
    pack(values_.right(), columns, begin, end, kernel_loops<T>().strip_cols,
         shop.packed_cols.data());
    kernel_loops<T>().fold_features(
        shape, {packed_rows, shop.packed_cols.data(), height, breadth, end - begin, end - begin},
        out, kSpan);
  }
  is_packed_ = true;
}

/// Scatters all rows into panels of `width`, one after the other in shop.slots and in `panels`.
template <class T>
template <class P>
void ReadyRows<T>::scatter_into(std::vector<P>& panels) {
  Workshop<T>& shop = workshop<T>();
  const std::int64_t width = kernel_loops<T>().scatter_rows, n_features = n_cols(values_.left());
  const auto n = static_cast<std::int64_t>(rows_.size());
  std::visit(
      [&](const auto& left) {
        const PanelLoops<std::decay_t<decltype(left)>, P>& of_left = hot();
        for (std::int64_t r = 0; r < n; r += width)
          panel_size_ = std::max(
              panel_size_, width * most_lines(left, rows_.subspan(r, std::min(width, n - r))));
        make_room(shop.slots, whole(n, width) / width * n_features);
        make_room(panels, whole(n, width) / width * panel_size_);
        for (std::int64_t r = 0; r < n; r += width)
          of_left.scatter(left, rows_.data() + r, std::min(width, n - r), width,
                          shop.slots.data() + r / width * n_features,
                          panels.data() + r / width * panel_size_);
      },
      values_.left());
  is_scattered_ = true;
}

template <class T>
void ReadyRows<T>::multiply_scattered(std::span<const std::int64_t> columns, T* out) {
  Workshop<T>& shop = workshop<T>();
  const bool is_narrow = has_float32_rows(values_);
  if (!is_scattered_ && is_narrow) scatter_into(shop.narrow_panels);
  if (!is_scattered_) scatter_into(shop.panels);
  const std::int64_t width = kernel_loops<T>().scatter_rows, n_features = n_cols(values_.left());
  const auto n = static_cast<std::int64_t>(rows_.size());
  const auto n_columns = static_cast<std::int64_t>(columns.size());
  std::visit(
      [&]<class Rows>(const Rows& right) {
        if constexpr (requires { right.indptr; }) {
          const ScatteredLoops<Rows, T>& of_right = hot();
          for (std::int64_t r = 0; r < n; r += width) {
            const std::int32_t* slots = shop.slots.data() + r / width * n_features;
            const std::int64_t panel = r / width * panel_size_;
            if (is_narrow)
              of_right.narrow_products(right, columns.data(), n_columns, slots,
                                       shop.narrow_panels.data() + panel, out + r * kSpan, kSpan);
            else
              of_right.scattered_products(right, columns.data(), n_columns, slots,
                                          shop.panels.data() + panel, out + r * kSpan, kSpan);
          }
        }
      },
      values_.right());
}

template <class T>
void ReadyRows<T>::sum_features(const KernelShape& shape, std::span<const std::int64_t> columns,
                                T* out) {
  if (values_.has_sparse_columns() && uses_products(shape.kind))
    multiply_scattered(columns, out);
  else
    fold_packed(shape, columns, out);
}

template <class T>
KernelTile<T> ReadyRows<T>::with_extras(const KernelShape& shape,
                                        std::span<const std::int64_t> columns, T* sums) const {
  Workshop<T>& shop = workshop<T>();
  write_extras(shape.kind, values_.left_sq_norms(), rows_, shop.of_rows);
  write_extras(shape.kind, values_.right_sq_norms(), columns, shop.of_cols);
  return {sums,
          kSpan,
          static_cast<std::int64_t>(rows_.size()),
          static_cast<std::int64_t>(columns.size()),
          shop.of_rows.data(),
          shop.of_cols.data()};
}

template <class T>
void ReadyRows<T>::push(const KernelShape& shape, std::span<const std::int64_t> columns, T* out) {
  if (shape.kind == KernelKind::gram) {
    std::visit([&](const auto& gram) { copy_entries(gram, rows_, columns, out); }, values_.left());
    return;
  }
  sum_features(shape, columns, out);
  kernel_loops<T>().finish_tile(shape, with_extras(shape, columns, out));
}

template <class T>
const float* ReadyRows<T>::rounded_tile(std::span<const std::int64_t> columns) {
  float* rounded = tile_at<float>(0);
  const Kernel& kernel = values_.kernel();
  if constexpr (std::is_same_v<T, double>) {
    if (kernel.size() == 1 && kernel[0].shape.kind == KernelKind::rbf) {
      const KernelShape& shape = kernel[0].shape;
      double* sums = tile_at<double>(0);
      sum_features(shape, columns, sums);
      hot().finish_rbf_rounded(shape.gamma, with_extras(shape, columns, sums), rounded, kSpan);
      return rounded;
    }
  }
  const T* exact = tile(columns);
  std::copy_n(exact, rows_.size() * kSpan, rounded);
  return rounded;
}

template <class T>
const T* ReadyRows<T>::tile(std::span<const std::int64_t> columns) {
  return run_program<T>(values_.kernel(), static_cast<std::int64_t>(rows_.size()),
                        [&](const KernelShape& shape, T* out) { push(shape, columns, out); });
}

template class ReadyRows<float>;
template class ReadyRows<double>;

}  // namespace hedgerow
