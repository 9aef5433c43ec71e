#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "arrays.hpp"
#include "hedgerow/tree/codes.hpp"
#include "hedgerow/tree/grower.hpp"
#include "hedgerow/tree/router.hpp"
#include "names.hpp"

namespace hedgerow::bindings {
namespace {

constexpr std::pair<const char*, ClassCriterion> kClassCriteria[] = {
    {"gini", ClassCriterion::gini},
    {"entropy", ClassCriterion::entropy},
    {"misclassification", ClassCriterion::misclassification},
};
constexpr std::pair<const char*, RegressionCriterion> kRegressionCriteria[] = {
    {"squared_error", RegressionCriterion::squared_error},
    {"absolute_error", RegressionCriterion::absolute_error},
    {"poisson", RegressionCriterion::poisson},
};
constexpr std::pair<const char*, Splitter> kSplitters[] = {
    {"best", Splitter::best},
    {"random", Splitter::random},
    {"mean", Splitter::mean},
    {"median", Splitter::median},
};

// ------------------------------------------------------------------------------------------ codes

/// None means one code for each number.
std::uint32_t read_max_codes(std::optional<std::int64_t> max_codes) {
  if (!max_codes) return kExact;
  if (*max_codes < 2 || *max_codes > std::int64_t{kMostBins})
    throw nb::value_error("max_codes is not from 2 to 255: give such a number, or None.");
  return static_cast<std::uint32_t>(*max_codes);
}

std::shared_ptr<CodeTable> of_matrix(const OwnedMatrix& matrix, int n_threads,
                                     std::optional<std::int64_t> max_codes) {
  const std::uint32_t most = read_max_codes(max_codes);
  const nb::gil_scoped_release unlocked;
  return std::make_shared<CodeTable>(encode(matrix.view, n_threads, most));
}

RawColumn raw_column(nb::handle column, std::int64_t n_categories) {
  Vector<const float> numbers;
  Vector<const double> wide;
  Vector<const std::int32_t> categories;
  if (nb::try_cast(column, numbers, false)) return as_span(numbers);
  if (nb::try_cast(column, wide, false)) return as_span(wide);
  if (!nb::try_cast(column, categories, false))
    throw nb::type_error("a column is no contiguous float32, float64 or int32 array: give one.");
  for (const std::int32_t c : as_span(categories))
    if (c >= n_categories || c < -1)
      throw nb::value_error("a category is not below n_categories: give one that is, or -1.");
  return as_span(categories);
}

std::shared_ptr<CodeTable> of_columns(const nb::list& columns,
                                      Vector<const std::int64_t> n_categories, int n_threads,
                                      std::optional<std::int64_t> max_codes) {
  const std::uint32_t most = read_max_codes(max_codes);
  require_length("n_categories", n_categories.size(), static_cast<std::int64_t>(columns.size()),
                 "column");
  std::vector<RawColumn> raw;
  std::size_t n_rows = 0;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    raw.push_back(raw_column(columns[j], n_categories.data()[j]));
    const std::size_t n = std::visit([](const auto& column) { return column.size(); }, raw.back());
    if (j == 0) n_rows = n;
    require_length("a column", n, static_cast<std::int64_t>(n_rows), "row");
  }
  const nb::gil_scoped_release unlocked;
  return std::make_shared<CodeTable>(
      encode(raw, as_span(n_categories), static_cast<std::int64_t>(n_rows), n_threads, most));
}

const CodeColumn& column_of(const CodeTable& table, std::int64_t feature) {
  if (feature < 0 || feature >= table.n_features()) throw nb::index_error("no such feature.");
  return table.columns[static_cast<std::size_t>(feature)];
}

NewArray<std::int32_t, 1> codes_of(const CodeTable& table, std::int64_t feature) {
  const CodeColumn& column = column_of(table, feature);
  auto codes = make_array<std::int32_t, 1>({static_cast<std::size_t>(table.n_rows)});
  const CodeView view = column.view();
  for (std::size_t i = 0; i < codes.size(); ++i)
    codes.data()[i] = view[i] == column.n_codes ? -1 : static_cast<std::int32_t>(view[i]);
  return codes;
}

/// All that a table is made of. A member that is added to a column must be added here: then this does not
/// compile.
nb::tuple parts_of(const CodeTable& self) {
  nb::list columns;
  for (const CodeColumn& column : self.columns) {
    const auto& [bytes, width, n_codes, is_category, has_missing, values, edges] = column;
    columns.append(nb::make_tuple(copy_array<std::uint8_t>(bytes), width, n_codes, is_category,
                                  has_missing, copy_array<double>(values),
                                  copy_array<double>(edges)));
  }
  return nb::make_tuple(self.n_rows, self.is_single, columns);
}

CodeColumn column_of_parts(const nb::tuple& parts, std::size_t n_rows) {
  const auto bytes = nb::cast<Vector<const std::uint8_t>>(parts[0], false);
  const auto values = nb::cast<Vector<const double>>(parts[5], false);
  const auto edges = nb::cast<Vector<const double>>(parts[6], false);
  CodeColumn column{{bytes.data(), bytes.data() + bytes.size()},
                    nb::cast<std::uint8_t>(parts[1]),
                    nb::cast<std::uint32_t>(parts[2]),
                    nb::cast<bool>(parts[3]),
                    nb::cast<bool>(parts[4]),
                    {values.data(), values.data() + values.size()},
                    {edges.data(), edges.data() + edges.size()}};
  const std::uint8_t width = column.width;
  const bool fits = (width == 1 || width == 2 || width == 4) &&
                    column.bytes.size() == n_rows * width + kBeyond &&
                    column.values.size() == (column.is_category ? 0 : column.n_codes) &&
                    (column.upper_edges.empty() || column.upper_edges.size() == column.n_codes);
  if (!fits) throw nb::value_error("the parts of a column of codes do not belong together.");
  const CodeView view = column.view();
  for (std::size_t i = 0; i < n_rows; ++i)
    if (view[i] >= column.n_codes + (column.has_missing ? 1u : 0u))
      throw nb::value_error("a code is not below the number of codes of its column.");
  return column;
}

std::shared_ptr<CodeTable> of_parts(std::int64_t n_rows, bool is_single, const nb::list& columns,
                                    int n_threads) {
  auto table = std::make_shared<CodeTable>();
  table->n_rows = n_rows;
  table->is_single = is_single;
  for (const nb::handle column : columns)
    table->columns.push_back(
        column_of_parts(nb::cast<nb::tuple>(column), static_cast<std::size_t>(n_rows)));
  const nb::gil_scoped_release unlocked;
  lay_out_by_rows(*table, n_threads);
  return table;
}

// -------------------------------------------------------------------------------- settings, tasks

TreeSettings make_settings(const std::string& splitter, std::int64_t max_features,
                           std::int64_t max_depth, std::int64_t min_samples_split,
                           std::int64_t min_samples_leaf, double min_weight_leaf,
                           std::int64_t max_leaf_nodes, double min_impurity_decrease,
                           bool in_any_order, std::optional<Vector<const std::int8_t>> monotonic) {
  TreeSettings settings;
  settings.splitter = named("splitter", splitter, kSplitters);
  settings.max_features = max_features;
  settings.max_depth = max_depth;
  settings.min_samples_split = min_samples_split;
  settings.min_samples_leaf = min_samples_leaf;
  settings.min_weight_leaf = min_weight_leaf;
  settings.max_leaf_nodes = max_leaf_nodes;
  settings.min_impurity_decrease = min_impurity_decrease;
  settings.in_any_order = in_any_order;
  if (monotonic)
    settings.monotonic.assign(monotonic->data(), monotonic->data() + monotonic->size());
  return settings;
}

std::vector<double> weights_of(const std::optional<Vector<const double>>& weights,
                               const CodeTable& table) {
  if (!weights) return {};
  require_length("weights", weights->size(), table.n_rows, "row");
  return {weights->data(), weights->data() + weights->size()};
}

ClassTargets class_targets(ClassCriterion criterion, const Table<const std::int32_t>& y,
                           std::span<const std::int32_t> n_classes, const CodeTable& table) {
  require_length("y", y.shape(0), table.n_rows, "row");
  require_length("n_classes", n_classes.size(), static_cast<std::int64_t>(y.shape(1)), "output");
  for (std::size_t i = 0; i < y.size(); ++i)
    if (y.data()[i] < 0 || y.data()[i] >= n_classes[i % n_classes.size()])
      throw nb::value_error("y holds a class outside 0 ... n_classes - 1: correct one of the two.");
  return {criterion, {y.data(), y.data() + y.size()}, {n_classes.begin(), n_classes.end()}};
}

RegressionTargets regression_targets(RegressionCriterion criterion, const Table<const double>& y,
                                     const CodeTable& table) {
  require_length("y", y.shape(0), table.n_rows, "row");
  return {criterion, {y.data(), y.data() + y.size()}, static_cast<std::int64_t>(y.shape(1))};
}

TreeTask classification_task(const std::shared_ptr<CodeTable>& table, const std::string& criterion,
                             Table<const std::int32_t> y, Vector<const std::int32_t> n_classes,
                             const std::optional<Vector<const double>>& weights) {
  const ClassCriterion by = named("criterion", criterion, kClassCriteria);
  return {table, class_targets(by, y, as_span(n_classes), *table), weights_of(weights, *table)};
}

TreeTask regression_task(const std::shared_ptr<CodeTable>& table, const std::string& criterion,
                         Table<const double> y,
                         const std::optional<Vector<const double>>& weights) {
  const RegressionCriterion by = named("criterion", criterion, kRegressionCriteria);
  return {table, regression_targets(by, y, *table), weights_of(weights, *table)};
}

/// The targets that a task has, if they are of this kind.
template <class Targets>
const Targets& targets_of(const TreeTask& task) {
  if (const auto* targets = std::get_if<Targets>(&task.targets)) return *targets;
  throw nb::type_error("the task learns the other of classes and numbers: give y of its own kind.");
}

TreeTask with_classes(const TreeTask& self, Table<const std::int32_t> y,
                      const std::optional<Vector<const double>>& weights) {
  const auto& before = targets_of<ClassTargets>(self);
  return self.with_targets(class_targets(before.criterion, y, before.n_classes, *self.table),
                           weights_of(weights, *self.table));
}

TreeTask with_regression_targets(const TreeTask& self, Table<const double> y,
                                 const std::optional<Vector<const double>>& weights) {
  const auto& before = targets_of<RegressionTargets>(self);
  require_length("a row of y", y.shape(1), before.n_outputs, "output");
  return self.with_targets(regression_targets(before.criterion, y, *self.table),
                           weights_of(weights, *self.table));
}

/// Something must be there to learn from, and settings must fit the table.
void check_call(const TreeTask& task, const TreeSettings& settings,
                std::span<const std::uint32_t> counts) {
  if (!settings.monotonic.empty())
    require_length("monotonic", settings.monotonic.size(), task.table->n_features(), "feature");
  bool is_there = false;
  for (std::int64_t i = 0; i < task.table->n_rows && !is_there; ++i) {
    const auto row = static_cast<std::size_t>(i);
    is_there =
        (counts.empty() || counts[row] > 0) && (task.weights.empty() || task.weights[row] > 0);
  }
  if (!is_there) throw nb::value_error("no row has a count and a weight: give some.");
}

std::shared_ptr<FlatTree> grow(const TreeTask& task, const TreeSettings& settings,
                               const std::optional<Vector<const std::uint32_t>>& counts,
                               std::uint64_t seed, std::uint64_t stream) {
  std::span<const std::uint32_t> times;
  if (counts) {
    require_length("counts", counts->size(), task.table->n_rows, "row");
    times = as_span(*counts);
  }
  check_call(task, settings, times);
  const nb::gil_scoped_release unlocked;
  return std::make_shared<FlatTree>(grow_tree(task, settings, times, seed, stream));
}

// ------------------------------------------------------------------------------------ grown trees

/// A view of a tree's array that keeps the tree alive.
template <class T, class Stored>
auto view_of(std::vector<Stored> FlatTree::* array) {
  return [array](const std::shared_ptr<FlatTree>& self) {
    auto* keeper = new std::shared_ptr<FlatTree>(self);
    nb::capsule owner(
        keeper, [](void* kept) noexcept { delete static_cast<std::shared_ptr<FlatTree>*>(kept); });
    auto& values = (*self).*array;
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(reinterpret_cast<T*>(values.data()),
                                                  {values.size()}, owner);
  };
}

nb::ndarray<nb::numpy, double, nb::ndim<3>> values_of(const std::shared_ptr<FlatTree>& self) {
  auto* keeper = new std::shared_ptr<FlatTree>(self);
  nb::capsule owner(
      keeper, [](void* kept) noexcept { delete static_cast<std::shared_ptr<FlatTree>*>(kept); });
  const auto n_outputs = static_cast<std::size_t>(self->n_outputs);
  return nb::ndarray<nb::numpy, double, nb::ndim<3>>(
      self->value.data(),
      {self->feature.size(), n_outputs, static_cast<std::size_t>(self->value_width) / n_outputs},
      owner);
}

std::shared_ptr<FlatTree> prune(const FlatTree& self, Vector<const bool> becomes_leaf) {
  require_length("becomes_leaf", becomes_leaf.size(), self.n_nodes(), "node");
  return std::make_shared<FlatTree>(pruned(
      self, {reinterpret_cast<const std::uint8_t*>(becomes_leaf.data()), becomes_leaf.size()}));
}

std::shared_ptr<FlatTree> replace_leaf_values(
    const FlatTree& self,
    nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu> value) {
  const std::int64_t width = self.value_width / self.n_outputs;
  require_length("value", value.shape(0), self.n_nodes(), "node");
  require_length("a value", value.shape(1), self.n_outputs, "output");
  require_length("a value of an output", value.shape(2), width, "class");
  for (std::size_t i = 0; i < value.size(); ++i)
    if (self.left[i / static_cast<std::size_t>(self.value_width)] == kNoChild &&
        !std::isfinite(value.data()[i]))
      throw nb::value_error("a leaf is given a value that is not finite: give finite ones.");
  return std::make_shared<FlatTree>(with_leaf_values(self, as_span(value)));
}

// ---------------------------------------------------------------------------------------- routing

void construct_router(TreeRouter* self, Vector<const std::int64_t> feature,
                      Vector<const double> threshold, Vector<const std::int64_t> left,
                      Vector<const std::int64_t> right, Vector<const bool> missing_left,
                      Vector<const std::int64_t> category_start,
                      Vector<const std::uint64_t> category_words,
                      Vector<const std::int64_t> n_categories) {
  const std::span missing(reinterpret_cast<const std::uint8_t*>(missing_left.data()),
                          missing_left.size());
  try {
    new (self)
        TreeRouter({as_span(feature), as_span(threshold), as_span(left), as_span(right), missing,
                    as_span(category_start), as_span(category_words), as_span(n_categories)});
  } catch (const std::invalid_argument& error) {
    throw nb::value_error(error.what());
  }
}

template <class T>
NewArray<std::int32_t, 1> leaves_of(const TreeRouter& self, Table<const T> X, int n_threads) {
  require_length("a row of X", X.shape(1), self.n_features(), "feature");
  auto leaves = make_array<std::int32_t, 1>({X.shape(0)});
  const DenseRows<T> rows{X.data(), static_cast<std::int64_t>(X.shape(0)),
                          static_cast<std::int64_t>(X.shape(1)),
                          static_cast<std::int64_t>(X.shape(1))};
  const nb::gil_scoped_release unlocked;
  self.leaves(rows, as_span(leaves), n_threads);
  return leaves;
}

void bind_growing(nb::module_& module) {
  nb::class_<TreeSettings>(module, "TreeSettings", nb::is_final(), "How a tree is grown.")
      .def(
          "__init__",
          [](TreeSettings* self, const std::string& splitter, std::int64_t max_features,
             std::int64_t max_depth, std::int64_t min_samples_split, std::int64_t min_samples_leaf,
             double min_weight_leaf, std::int64_t max_leaf_nodes, double min_impurity_decrease,
             bool in_any_order, std::optional<Vector<const std::int8_t>> monotonic) {
            new (self) TreeSettings(
                make_settings(splitter, max_features, max_depth, min_samples_split,
                              min_samples_leaf, min_weight_leaf, max_leaf_nodes,
                              min_impurity_decrease, in_any_order, std::move(monotonic)));
          },
          nb::kw_only(), "splitter"_a, "max_features"_a, "max_depth"_a, "min_samples_split"_a,
          "min_samples_leaf"_a, "min_weight_leaf"_a, "max_leaf_nodes"_a, "min_impurity_decrease"_a,
          "in_any_order"_a, "monotonic"_a.none());
  nb::class_<TreeTask>(module, "TreeTask", nb::is_final(),
                       "What trees learn from: made once, used by every tree.")
      .def_static("classification", &classification_task, "table"_a, "criterion"_a,
                  "y"_a.noconvert(), "n_classes"_a.noconvert(), "weights"_a.noconvert().none())
      .def_static("regression", &regression_task, "table"_a, "criterion"_a, "y"_a.noconvert(),
                  "weights"_a.noconvert().none())
      .def("with_targets", &with_classes, "y"_a.noconvert(), "weights"_a.noconvert().none(),
           "The task with other targets and weights; codes and memory are shared.")
      .def("with_targets", &with_regression_targets, "y"_a.noconvert(),
           "weights"_a.noconvert().none())
      .def("grow", &grow, "settings"_a, "counts"_a.noconvert().none(), "seed"_a, "stream"_a,
           "A tree of the rows, each as often as it counts.");
  nb::class_<FlatTree>(module, "GrownTree", nb::is_final(), "A grown tree; its arrays are views.")
      .def_ro("was_stopped", &FlatTree::was_stopped)
      .def("pruned", &prune, "becomes_leaf"_a.noconvert(),
           "The tree with the marked nodes as leaves.")
      .def(
          "with_leaf_values", &replace_leaf_values, "value"_a.noconvert(),
          "The tree with other values in its leaves; those of inner nodes are the means below them.")
      .def_prop_ro("feature", view_of<std::int64_t>(&FlatTree::feature), nb::rv_policy::reference)
      .def_prop_ro("threshold", view_of<double>(&FlatTree::threshold), nb::rv_policy::reference)
      .def_prop_ro("children_left", view_of<std::int64_t>(&FlatTree::left),
                   nb::rv_policy::reference)
      .def_prop_ro("children_right", view_of<std::int64_t>(&FlatTree::right),
                   nb::rv_policy::reference)
      .def_prop_ro("missing_go_to_left", view_of<bool>(&FlatTree::missing_left),
                   nb::rv_policy::reference)
      .def_prop_ro("impurity", view_of<double>(&FlatTree::impurity), nb::rv_policy::reference)
      .def_prop_ro("n_node_samples", view_of<std::int64_t>(&FlatTree::n_samples),
                   nb::rv_policy::reference)
      .def_prop_ro("weighted_n_node_samples", view_of<double>(&FlatTree::weight),
                   nb::rv_policy::reference)
      .def_prop_ro("value", &values_of, nb::rv_policy::reference)
      .def_prop_ro("n_candidates", view_of<std::int64_t>(&FlatTree::n_candidates),
                   nb::rv_policy::reference)
      .def_prop_ro("category_start", view_of<std::int64_t>(&FlatTree::category_start),
                   nb::rv_policy::reference)
      .def_prop_ro("category_words", view_of<std::uint64_t>(&FlatTree::category_words),
                   nb::rv_policy::reference)
      .def_prop_ro("leaf_of_row", view_of<std::int32_t>(&FlatTree::leaf_of_row),
                   nb::rv_policy::reference);
}

}  // namespace

void bind_tree(nb::module_& module) {
  nb::class_<CodeTable>(module, "CodeTable", nb::is_final(),
                        "The features of a table as codes, each encoded once.")
      .def_static("of_matrix", &of_matrix, "matrix"_a, "n_threads"_a, "max_codes"_a = nb::none())
      .def_static("of_columns", &of_columns, "columns"_a, "n_categories"_a.noconvert(),
                  "n_threads"_a, "max_codes"_a = nb::none())
      .def_static("of_parts", &of_parts, "n_rows"_a, "single_precision"_a, "columns"_a,
                  "n_threads"_a)
      .def_prop_ro("parts", &parts_of, "What of_parts makes an equal table of.")
      .def_ro("n_rows", &CodeTable::n_rows)
      .def_prop_ro("n_features", &CodeTable::n_features)
      .def_prop_ro("nbytes", &CodeTable::n_bytes)
      .def_ro("single_precision", &CodeTable::is_single)
      .def(
          "values",
          [](const CodeTable& self, std::int64_t feature) {
            return copy_array<double>(column_of(self, feature).values);
          },
          "feature"_a, "The distinct numbers of a feature, sorted; none for categories.")
      .def("codes", &codes_of, "feature"_a,
           "Every row's place among them, or category; -1 missing.");
  bind_growing(module);
  nb::class_<TreeRouter>(module, "TreeRouter", nb::is_final(), "Finds the leaves of rows.")
      .def("__init__", &construct_router, "feature"_a.noconvert(), "threshold"_a.noconvert(),
           "children_left"_a.noconvert(), "children_right"_a.noconvert(),
           "missing_go_to_left"_a.noconvert(), "category_start"_a.noconvert(),
           "category_words"_a.noconvert(), "n_categories"_a.noconvert())
      .def("leaves", &leaves_of<float>, "X"_a.noconvert(), "n_threads"_a)
      .def("leaves", &leaves_of<double>, "X"_a.noconvert(), "n_threads"_a);
}

}  // namespace hedgerow::bindings
