#include "hedgerow/tree/codes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "tree/binning.hpp"
#include "hedgerow/system/parallel.hpp"
#include "hedgerow/system/stop.hpp"

namespace hedgerow {
namespace {

/// Bytes of numbers that a thread copies out of rows at a time.
constexpr std::int64_t kCopiedAtATime = std::int64_t{1} << 25;
constexpr std::int64_t kMostColumnsAtATime = 16;

/// Rows from which on the memory of encoding is worth giving back.
constexpr std::int64_t kManyRows = std::int64_t{1} << 18;

template <class T>
using KeyOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Unsigned keys in the order of the numbers; -0 and 0 have one key.
template <class T>
KeyOf<T> key_of(T number) {
  using Key = KeyOf<T>;
  constexpr Key sign = Key{1} << (8 * sizeof(T) - 1);
  const Key bits = std::bit_cast<Key>(number == 0 ? T{0} : number);
  return bits & sign ? ~bits : bits | sign;
}

template <class T>
T number_of(KeyOf<T> key) {
  using Key = KeyOf<T>;
  constexpr Key sign = Key{1} << (8 * sizeof(T) - 1);
  return std::bit_cast<T>(key & sign ? key ^ sign : ~key);
}

/// Codes are kept by rows, too, from so many columns on and up to so many bytes.
constexpr std::size_t kFewestByRows = 4;
constexpr std::size_t kMostByRows = std::size_t{1} << 30;

/// Makes room for codes up to `most`, in the narrowest type, and calls fill with a pointer to them.
template <class Fill>
void fill_codes(CodeColumn& column, std::size_t n_rows, std::uint64_t most, const Fill& fill) {
  column.width = most < 256 ? 1 : most < 65536 ? 2 : 4;
  column.bytes.assign(n_rows * column.width + kBeyond, 0);
  if (column.width == 1)
    fill(column.bytes.data());
  else if (column.width == 2)
    fill(reinterpret_cast<std::uint16_t*>(column.bytes.data()));
  else
    fill(reinterpret_cast<std::uint32_t*>(column.bytes.data()));
}

/// The distinct numbers of a column while they are few: open addressing, from key to number of the
/// entry.
template <class T>
class FewNumbers {
 public:
  static constexpr std::size_t kMost = 1023;

  FewNumbers() { slots_.fill(kFree); }

  /// The entry of a key, or kMost if there are too many.
  std::size_t entry(KeyOf<T> key) {
    std::size_t slot = hash(key);
    while (slots_[slot] != kFree) {
      if (keys_[slots_[slot]] == key) return slots_[slot];
      slot = (slot + 1) % kSlots;
    }
    if (n_ == kMost) return kMost;
    slots_[slot] = static_cast<std::uint16_t>(n_);
    keys_[n_] = key;
    return n_++;
  }

  std::span<const KeyOf<T>> keys() const { return std::span(keys_).first(n_); }

 private:
  static constexpr std::size_t kSlots = 4096;
  static constexpr std::uint16_t kFree = 0xFFFF;

  static std::size_t hash(KeyOf<T> key) {
    return static_cast<std::size_t>((std::uint64_t{key} * 0x9E3779B97F4A7C15u) >> 52);
  }

  std::array<std::uint16_t, kSlots> slots_;
  std::array<KeyOf<T>, kMost> keys_{};
  std::size_t n_ = 0;
};

/// Codes of a column of few distinct numbers; false, and nothing done, if they are not few.
template <class T>
bool encode_few(std::span<const T> numbers, CodeColumn& column) {
  FewNumbers<T> few;
  std::vector<std::uint16_t> entries(numbers.size());
  constexpr auto missing = static_cast<std::uint16_t>(FewNumbers<T>::kMost);
  KeyOf<T> last_key{};
  std::size_t last_entry = FewNumbers<T>::kMost;
  bool has_missing = false;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (std::isnan(numbers[i])) {
      entries[i] = missing;
      has_missing = true;
      continue;
    }
    const KeyOf<T> key = key_of(numbers[i]);
    if (key != last_key || last_entry == FewNumbers<T>::kMost) {
      last_entry = few.entry(key);
      last_key = key;
      if (last_entry == FewNumbers<T>::kMost) return false;
    }
    entries[i] = static_cast<std::uint16_t>(last_entry);
  }
  std::vector<KeyOf<T>> sorted(few.keys().begin(), few.keys().end());
  std::ranges::sort(sorted);
  std::array<std::uint16_t, FewNumbers<T>::kMost + 1> code_of{};
  for (std::size_t e = 0; e < few.keys().size(); ++e)
    code_of[e] = static_cast<std::uint16_t>(std::ranges::lower_bound(sorted, few.keys()[e]) -
                                            sorted.begin());
  column.n_codes = static_cast<std::uint32_t>(sorted.size());
  code_of[missing] = static_cast<std::uint16_t>(column.n_codes);
  column.has_missing = has_missing;
  for (const KeyOf<T> key : sorted) column.values.push_back(number_of<T>(key));
  const std::uint64_t most = column.n_codes - (has_missing ? 0 : 1);
  fill_codes(column, numbers.size(), most, [&](auto* codes) {
    using Code = std::remove_pointer_t<decltype(codes)>;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      codes[i] = static_cast<Code>(code_of[entries[i]]);
  });
  return true;
}

template <class Key>
struct Keyed {
  Key key;
  std::uint32_t row;
};

/// Sorts by key, from the lowest digit up; digits that are the same everywhere cost nothing.
template <class Key>
void radix_sort(std::vector<Keyed<Key>>& items) {
  constexpr int digit_bits = 11;
  constexpr int n_digits = (8 * sizeof(Key) + digit_bits - 1) / digit_bits;
  constexpr std::size_t n_values = std::size_t{1} << digit_bits;
  std::vector<std::array<std::uint32_t, n_values>> counts(n_digits);
  for (const Keyed<Key>& item : items)
    for (int d = 0; d < n_digits; ++d)
      ++counts[static_cast<std::size_t>(d)][(item.key >> (d * digit_bits)) & (n_values - 1)];
  std::vector<Keyed<Key>> other(items.size());
  for (int d = 0; d < n_digits; ++d) {
    auto& begins = counts[static_cast<std::size_t>(d)];
    if (std::ranges::find(begins, items.size()) != begins.end()) continue;
    std::uint32_t sum = 0;
    for (std::uint32_t& count : begins) sum += std::exchange(count, sum);
    for (const Keyed<Key>& item : items)
      other[begins[(item.key >> (d * digit_bits)) & (n_values - 1)]++] = item;
    items.swap(other);
    check_stop();
  }
}

/// Codes of a column of many distinct numbers.
template <class T>
void encode_many(std::span<const T> numbers, CodeColumn& column) {
  std::vector<Keyed<KeyOf<T>>> items;
  items.reserve(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (!std::isnan(numbers[i]))
      items.push_back({key_of(numbers[i]), static_cast<std::uint32_t>(i)});
  column.has_missing = items.size() < numbers.size();
  radix_sort(items);
  for (std::size_t i = 0; i < items.size(); ++i)
    if (i == 0 || items[i].key != items[i - 1].key)
      column.values.push_back(number_of<T>(items[i].key));
  column.n_codes = static_cast<std::uint32_t>(column.values.size());
  const std::uint64_t most = column.n_codes - (column.has_missing ? 0 : 1);
  fill_codes(column, numbers.size(), most, [&](auto* codes) {
    using Code = std::remove_pointer_t<decltype(codes)>;
    if (column.has_missing) std::fill_n(codes, numbers.size(), static_cast<Code>(column.n_codes));
    std::uint32_t code = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      code += i > 0 && items[i].key != items[i - 1].key;
      codes[items[i].row] = static_cast<Code>(code);
    }
  });
}

template <class T>
void encode_numbers(std::span<const T> numbers, CodeColumn& column, std::uint32_t max_codes) {
  if (!encode_few(numbers, column)) encode_many(numbers, column);
  if (column.n_codes > max_codes) merge_into_bins(column, numbers.size(), max_codes);
}

void encode_categories(std::span<const std::int32_t> categories, std::int64_t n_categories,
                       CodeColumn& column) {
  column.is_category = true;
  column.n_codes = static_cast<std::uint32_t>(n_categories);
  column.has_missing = std::ranges::any_of(categories, [](std::int32_t c) { return c < 0; });
  fill_codes(column, categories.size(), column.n_codes, [&](auto* codes) {
    using Code = std::remove_pointer_t<decltype(codes)>;
    for (std::size_t i = 0; i < categories.size(); ++i)
      codes[i] =
          categories[i] < 0 ? static_cast<Code>(column.n_codes) : static_cast<Code>(categories[i]);
  });
}

/// Encodes columns [begin, end) of dense rows, which are copied out first: reading a column of rows
/// touches all of them.
template <class T>
void encode_columns(const DenseRows<T>& rows, std::int64_t begin, std::int64_t end,
                    CodeTable& table, std::uint32_t max_codes) {
  const auto n = static_cast<std::size_t>(rows.n_rows);
  std::vector<T> copy(n * static_cast<std::size_t>(end - begin));
  for (std::int64_t i = 0; i < rows.n_rows; ++i)
    for (std::int64_t j = begin; j < end; ++j)
      copy[static_cast<std::size_t>(j - begin) * n + static_cast<std::size_t>(i)] =
          rows.values[i * rows.row_stride + j];
  for (std::int64_t j = begin; j < end; ++j) {
    check_stop();
    encode_numbers(std::span<const T>(copy).subspan(static_cast<std::size_t>(j - begin) * n, n),
                   table.columns[static_cast<std::size_t>(j)], max_codes);
  }
}

template <class T>
void encode_rows(const DenseRows<T>& rows, CodeTable& table, int n_threads,
                 std::uint32_t max_codes) {
  const std::int64_t column_bytes =
      std::max<std::int64_t>(rows.n_rows * std::int64_t{sizeof(T)}, 1);
  const std::int64_t width =
      std::clamp<std::int64_t>(kCopiedAtATime / column_bytes, 1, kMostColumnsAtATime);
  const std::int64_t n_tasks = (rows.n_cols + width - 1) / width;
  parallel_for(n_tasks, n_threads, [&](std::int64_t task) {
    encode_columns(rows, task * width, std::min(rows.n_cols, (task + 1) * width), table, max_codes);
  });
}

/// Sparse rows by columns: what a column stores, and of which rows.
template <class T>
struct StoredColumns {
  std::vector<std::int64_t> begins;
  std::vector<std::uint32_t> rows;
  std::vector<T> values;
};

template <class T, class I>
StoredColumns<T> by_columns(const SparseRows<T, I>& rows) {
  StoredColumns<T> columns;
  columns.begins.assign(static_cast<std::size_t>(rows.n_cols) + 1, 0);
  const auto n_stored = static_cast<std::size_t>(rows.indptr[rows.n_rows]);
  for (std::size_t p = 0; p < n_stored; ++p)
    ++columns.begins[static_cast<std::size_t>(rows.indices[p]) + 1];
  for (std::size_t j = 1; j < columns.begins.size(); ++j)
    columns.begins[j] += columns.begins[j - 1];
  columns.rows.resize(n_stored);
  columns.values.resize(n_stored);
  std::vector<std::int64_t> next(columns.begins.begin(), columns.begins.end() - 1);
  for (std::int64_t i = 0; i < rows.n_rows; ++i)
    for (I p = rows.indptr[i]; p < rows.indptr[i + 1]; ++p) {
      const auto place =
          static_cast<std::size_t>(next[static_cast<std::size_t>(rows.indices[p])]++);
      columns.rows[place] = static_cast<std::uint32_t>(i);
      columns.values[place] = rows.values[p];
    }
  return columns;
}

template <class T, class I>
void encode_rows(const SparseRows<T, I>& rows, CodeTable& table, int n_threads,
                 std::uint32_t max_codes) {
  const StoredColumns<T> stored = by_columns(rows);
  parallel_for(rows.n_cols, n_threads, [&](std::int64_t j) {
    std::vector<T> column(static_cast<std::size_t>(rows.n_rows), T{0});
    const auto begin = static_cast<std::size_t>(stored.begins[static_cast<std::size_t>(j)]);
    const auto end = static_cast<std::size_t>(stored.begins[static_cast<std::size_t>(j) + 1]);
    for (std::size_t p = begin; p < end; ++p) column[stored.rows[p]] = stored.values[p];
    encode_numbers(std::span<const T>(column), table.columns[static_cast<std::size_t>(j)],
                   max_codes);
  });
}

}  // namespace

void lay_out_by_rows(CodeTable& table, int n_threads) {
  table.offsets.resize(table.columns.size());
  for (std::size_t j = 0; j < table.columns.size(); ++j)
    table.offsets[j] = std::exchange(table.row_stride, table.row_stride + table.columns[j].width);
  const std::size_t n = static_cast<std::size_t>(table.n_rows);
  if (table.columns.size() < kFewestByRows || n * table.row_stride > kMostByRows) return;
  table.rows.resize(n * table.row_stride + kBeyond);
  const Cut cut{table.n_rows, (table.n_rows + 2047) / 2048};
  parallel_for(cut.n_pieces, n_threads, [&](std::int64_t piece) {
    for (std::size_t j = 0; j < table.columns.size(); ++j) {
      const CodeColumn& column = table.columns[j];
      std::uint8_t* to = table.rows.data() + table.offsets[j];
      for (auto i = static_cast<std::size_t>(cut.begin(piece));
           i < static_cast<std::size_t>(cut.end(piece)); ++i)
        std::memcpy(to + i * table.row_stride, &column.bytes[i * column.width], column.width);
    }
  });
}

namespace {

/// Returns to the system what was freed: malloc keeps it for the threads that have encoded, and those that
/// grow trees are others.
void give_back_memory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

}  // namespace

std::int64_t CodeTable::n_bytes() const {
  std::size_t sum = 0;
  for (const CodeColumn& column : columns)
    sum += 8 * (column.values.size() + column.upper_edges.size()) + column.bytes.size();
  return static_cast<std::int64_t>(sum + rows.size());
}

CodeTable encode(const Matrix& matrix, int n_threads, std::uint32_t max_codes) {
  CodeTable table;
  table.n_rows = n_rows(matrix);
  table.columns.resize(static_cast<std::size_t>(n_cols(matrix)));
  std::visit(
      [&](const auto& rows) {
        using T = typename std::remove_cvref_t<decltype(rows)>::Value;
        table.is_single = std::is_same_v<T, float>;
        encode_rows(rows, table, n_threads, max_codes);
      },
      matrix);
  lay_out_by_rows(table, n_threads);
  if (table.n_rows >= kManyRows) give_back_memory();
  return table;
}

CodeTable encode(std::span<const RawColumn> columns, std::span<const std::int64_t> n_categories,
                 std::int64_t n_rows, int n_threads, std::uint32_t max_codes) {
  CodeTable table;
  table.n_rows = n_rows;
  table.columns.resize(columns.size());
  for (const RawColumn& column : columns)
    table.is_single = table.is_single && !std::holds_alternative<std::span<const double>>(column);
  parallel_for(static_cast<std::int64_t>(columns.size()), n_threads, [&](std::int64_t task) {
    const auto j = static_cast<std::size_t>(task);
    if (const auto* numbers = std::get_if<std::span<const float>>(&columns[j]))
      encode_numbers(*numbers, table.columns[j], max_codes);
    else if (const auto* wide = std::get_if<std::span<const double>>(&columns[j]))
      encode_numbers(*wide, table.columns[j], max_codes);
    else
      encode_categories(std::get<std::span<const std::int32_t>>(columns[j]), n_categories[j],
                        table.columns[j]);
  });
  lay_out_by_rows(table, n_threads);
  if (table.n_rows >= kManyRows) give_back_memory();
  return table;
}

}  // namespace hedgerow
