#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <cmath>
#include <memory>
#include <optional>

#include "arrays.hpp"
#include "hedgerow/tree/forest.hpp"
#include "hedgerow/tree/out_of_bag.hpp"
#include "hedgerow/tree/router.hpp"

namespace hedgerow::bindings {
namespace {

// ------------------------------------------------------------- arrays as narrow as what they hold

template <class T, class Values>
nb::object cast_as(const Values& values) {
  auto array = make_array<T, 1>({values.size()});
  std::transform(values.begin(), values.end(), array.data(),
                 [](auto value) { return static_cast<T>(value); });
  return nb::cast(array);
}

/// Whole numbers of at least 0 as the narrowest type they fit; other numbers as they are.
template <class Values>
nb::object narrow(const Values& values) {
  double most = 0;
  for (const auto value : values) {
    if (static_cast<double>(value) < 0 || std::floor(static_cast<double>(value)) != value)
      return cast_as<double>(values);
    most = std::max(most, static_cast<double>(value));
  }
  if (most < 256) return cast_as<std::uint8_t>(values);
  if (most < 65536) return cast_as<std::uint16_t>(values);
  return most < 4294967296.0 ? cast_as<std::uint32_t>(values) : cast_as<double>(values);
}

template <class T>
std::vector<T> widen(const nb::dict& parts, const char* name) {
  const nb::handle part = parts[name];
  std::vector<T> values;
  const auto take = [&](const auto& array) {
    values.reserve(array.size());
    for (std::size_t i = 0; i < array.size(); ++i)
      values.push_back(static_cast<T>(array.data()[i]));
  };
  Vector<const std::uint8_t> bytes;
  Vector<const std::uint16_t> shorts;
  Vector<const std::uint32_t> words;
  Vector<const float> singles;
  Vector<const double> doubles;
  if (nb::try_cast(part, bytes, false))
    take(bytes);
  else if (nb::try_cast(part, shorts, false))
    take(shorts);
  else if (nb::try_cast(part, words, false))
    take(words);
  else if (std::is_same_v<T, double> && nb::try_cast(part, singles, false))
    take(singles);
  else if (std::is_same_v<T, double> && nb::try_cast(part, doubles, false))
    take(doubles);
  else
    throw nb::type_error((std::string("the part '") + name + "' has another type.").c_str());
  return values;
}

template <class T>
std::vector<T> exact(const nb::dict& parts, const char* name) {
  const auto array = nb::cast<Vector<const T>>(parts[name], false);
  return {array.data(), array.data() + array.size()};
}

/// Truths as bits, and back.
template <class Values>
nb::object pack_bits(const Values& values) {
  std::vector<std::uint8_t> bytes((values.size() + 7) / 8, 0);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i]) bytes[i / 8] |= static_cast<std::uint8_t>(1u << (i % 8));
  return cast_as<std::uint8_t>(bytes);
}

std::vector<std::uint8_t> bits(const nb::dict& parts, const char* name, std::size_t n) {
  const auto bytes = exact<std::uint8_t>(parts, name);
  if (bytes.size() != (n + 7) / 8)
    throw nb::value_error((std::string("the part '") + name + "' has another length.").c_str());
  std::vector<std::uint8_t> truths(n);
  for (std::size_t i = 0; i < n; ++i) truths[i] = (bytes[i / 8] >> (i % 8)) & 1;
  return truths;
}

// ------------------------------------------------------------------------------------------ parts

nb::dict parts_of(const Forest& self) {
  const Forest::Parts parts = self.parts();
  const ForestShape& shape = self.shape();
  std::vector<std::uint32_t> feature;
  std::vector<std::uint8_t> missing_left, by_categories;
  for (const std::uint32_t asks : parts.asks) {
    feature.push_back(asks & kFeatureBits);
    missing_left.push_back((asks & kMissingLeft) != 0);
    by_categories.push_back((asks & kByCategories) != 0);
  }
  const std::vector<std::int64_t> facts{shape.n_outputs, shape.width, shape.has_classes,
                                        self.is_single(), parts.lines_are_counts};
  nb::dict named;
  named["facts"] = cast_as<std::int64_t>(facts);
  named["n_categories"] = cast_as<std::int64_t>(shape.n_categories);
  named["begins"] = cast_as<std::int64_t>(parts.begins);
  named["is_leaf"] = pack_bits(parts.is_leaf);
  named["asks"] = narrow(feature);
  named["missing_left"] = pack_bits(missing_left);
  named["by_categories"] = pack_bits(by_categories);
  named["threshold"] =
      self.is_single() ? cast_as<float>(parts.threshold) : cast_as<double>(parts.threshold);
  named["word_start"] = cast_as<std::uint32_t>(parts.word_start);
  named["has_line"] = pack_bits(parts.has_line);
  named["lines"] = parts.lines_are_counts ? narrow(parts.lines) : cast_as<double>(parts.lines);
  named["words"] = cast_as<std::uint64_t>(parts.words);
  named["leaf_weight"] = narrow(parts.leaf_weight);
  return named;
}

std::shared_ptr<Forest> of_parts(const nb::dict& named) {
  const auto facts = exact<std::int64_t>(named, "facts");
  if (facts.size() != 5 || facts[0] < 1 || facts[1] < 1 || facts[0] > (1 << 20) ||
      facts[1] > (1 << 20))
    throw nb::value_error("the part 'facts' is none of a forest.");
  Forest::Parts parts;
  parts.begins = exact<std::int64_t>(named, "begins");
  if (parts.begins.empty() || parts.begins.back() < 0 ||
      (parts.begins.back() + 7) / 8 !=
          static_cast<std::int64_t>(exact<std::uint8_t>(named, "is_leaf").size()))
    throw nb::value_error("the part 'begins' is none of a forest.");
  parts.is_leaf = bits(named, "is_leaf", static_cast<std::size_t>(parts.begins.back()));
  parts.asks = widen<std::uint32_t>(named, "asks");
  const auto missing_left = bits(named, "missing_left", parts.asks.size());
  const auto by_categories = bits(named, "by_categories", parts.asks.size());
  for (std::size_t i = 0; i < parts.asks.size(); ++i)
    parts.asks[i] = (parts.asks[i] & kFeatureBits) | (missing_left[i] ? kMissingLeft : 0) |
                    (by_categories[i] ? kByCategories : 0);
  parts.threshold = widen<double>(named, "threshold");
  parts.word_start = exact<std::uint32_t>(named, "word_start");
  parts.leaf_weight = widen<double>(named, "leaf_weight");
  parts.has_line = bits(named, "has_line", parts.leaf_weight.size());
  parts.lines = widen<double>(named, "lines");
  parts.lines_are_counts = facts[4] != 0;
  parts.words = exact<std::uint64_t>(named, "words");
  const ForestShape shape{facts[0], facts[1], facts[2] != 0,
                          exact<std::int64_t>(named, "n_categories")};
  try {
    return std::make_shared<Forest>(Forest::of_parts(shape, facts[3] != 0, parts));
  } catch (const std::invalid_argument& error) {
    throw nb::value_error(error.what());
  }
}

// ------------------------------------------------------------------------------------- the forest

void construct(Forest* self, std::int64_t n_features, std::int64_t n_outputs,
               Vector<const std::int32_t> n_classes, Vector<const std::int64_t> n_categories,
               bool single_precision) {
  require_length("n_categories", n_categories.size(), n_features, "feature");
  require_length("n_classes", n_classes.size(), n_outputs, "output");
  std::int64_t width = 0;
  for (const std::int32_t n : as_span(n_classes)) width = std::max<std::int64_t>(width, n);
  new (self) Forest({n_outputs,
                     std::max<std::int64_t>(width, 1),
                     width > 0,
                     {n_categories.data(), n_categories.data() + n_categories.size()}},
                    single_precision);
}

template <class T>
DenseRows<T> rows_of(const Forest& self, const Table<const T>& X) {
  require_length("a row of X", X.shape(1),
                 static_cast<std::int64_t>(self.shape().n_categories.size()), "feature");
  return {X.data(), static_cast<std::int64_t>(X.shape(0)), static_cast<std::int64_t>(X.shape(1)),
          static_cast<std::int64_t>(X.shape(1))};
}

template <class T>
NewArray<double, 3> sums_of(const Forest& self, Table<const T> X, std::int64_t begin,
                            std::int64_t end, int n_threads,
                            const std::optional<Vector<const double>>& weights) {
  const DenseRows<T> rows = rows_of(self, X);
  if (begin < 0 || end < begin || end > self.n_trees())
    throw nb::index_error("there are no such trees.");
  std::span<const double> weight_of_tree;
  if (weights) {
    require_length("weights", weights->size(), end - begin, "tree");
    weight_of_tree = as_span(*weights);
  }
  auto sums = make_array<double, 3>({X.shape(0), static_cast<std::size_t>(self.shape().n_outputs),
                                     static_cast<std::size_t>(self.shape().width)});
  std::fill_n(sums.data(), sums.size(), 0.0);
  const nb::gil_scoped_release unlocked;
  self.sums(rows, begin, end, weight_of_tree, as_span(sums), n_threads);
  return sums;
}

template <class T>
NewArray<std::int32_t, 2> leaves_of(const Forest& self, Table<const T> X, int n_threads) {
  const DenseRows<T> rows = rows_of(self, X);
  auto leaves = make_array<std::int32_t, 2>({X.shape(0), static_cast<std::size_t>(self.n_trees())});
  const nb::gil_scoped_release unlocked;
  self.leaves(rows, as_span(leaves), n_threads);
  return leaves;
}

nb::tuple tree_of(const Forest& self, std::int64_t number) {
  if (number < 0 || number >= self.n_trees()) throw nb::index_error("there is no such tree.");
  const FlatTree tree = self.tree(number);
  const auto n_outputs = static_cast<std::size_t>(tree.n_outputs);
  auto value = make_array<double, 3>(
      {tree.feature.size(), n_outputs, static_cast<std::size_t>(tree.value_width) / n_outputs});
  std::ranges::copy(tree.value, value.data());
  return nb::make_tuple(cast_as<std::int64_t>(tree.feature), cast_as<double>(tree.threshold),
                        cast_as<std::int64_t>(tree.left), cast_as<std::int64_t>(tree.right),
                        cast_as<bool>(tree.missing_left), cast_as<double>(tree.impurity),
                        cast_as<std::int64_t>(tree.n_samples), cast_as<double>(tree.weight),
                        nb::cast(value), cast_as<std::int64_t>(tree.n_candidates),
                        cast_as<std::int64_t>(tree.category_start),
                        cast_as<std::uint64_t>(tree.category_words));
}

template <class T>
std::vector<T> copied(const Vector<const T>& array) {
  return {array.data(), array.data() + array.size()};
}

/// Adds a tree that is given by its arrays. They are checked as those of a router are.
void add_arrays(Forest& self, Vector<const std::int64_t> feature, Vector<const double> threshold,
                Vector<const std::int64_t> left, Vector<const std::int64_t> right,
                Vector<const bool> missing_left, Vector<const double> weight,
                nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu> value,
                Vector<const std::int64_t> category_start,
                Vector<const std::uint64_t> category_words) {
  const ForestShape& shape = self.shape();
  const auto n_nodes = static_cast<std::int64_t>(feature.size());
  require_length("weighted_n_node_samples", weight.size(), n_nodes, "node");
  require_length("value", value.shape(0), n_nodes, "node");
  require_length("a value", value.shape(1), shape.n_outputs, "output");
  require_length("a value of an output", value.shape(2), shape.width, "class");
  FlatTree tree;
  tree.feature = copied(feature);
  tree.threshold = copied(threshold);
  tree.left = copied(left);
  tree.right = copied(right);
  tree.missing_left.assign(missing_left.data(), missing_left.data() + missing_left.size());
  tree.weight = copied(weight);
  tree.value.assign(value.data(), value.data() + value.size());
  tree.category_start = copied(category_start);
  tree.category_words = copied(category_words);
  tree.n_outputs = shape.n_outputs;
  tree.value_width = shape.n_outputs * shape.width;
  try {
    const TreeRouter checked({tree.feature, tree.threshold, tree.left, tree.right,
                              tree.missing_left, tree.category_start, tree.category_words,
                              shape.n_categories});
  } catch (const std::invalid_argument& error) {
    throw nb::value_error(error.what());
  }
  self.add(tree);
}

// ------------------------------------------------------------------------------------- out of bag

using Flags = Vector<const bool>;

std::shared_ptr<OutOfBag> out_of_bag_classification(Table<const std::int32_t> y, std::size_t width,
                                                    Flags is_judged) {
  require_length("is_judged", is_judged.size(), static_cast<std::int64_t>(y.shape(0)), "row");
  for (std::size_t i = 0; i < y.size(); ++i)
    if (y.data()[i] < 0 || static_cast<std::size_t>(y.data()[i]) >= width)
      throw nb::value_error("y holds a class outside 0 ... width - 1: correct one of the two.");
  return std::make_shared<OutOfBag>(
      OutOfBagTargets{{y.data(), y.data() + y.size()}, {}, y.shape(1), width},
      std::vector<std::uint8_t>(is_judged.data(), is_judged.data() + is_judged.size()));
}

std::shared_ptr<OutOfBag> out_of_bag_regression(Table<const double> y, Flags is_judged) {
  require_length("is_judged", is_judged.size(), static_cast<std::int64_t>(y.shape(0)), "row");
  return std::make_shared<OutOfBag>(
      OutOfBagTargets{{}, {y.data(), y.data() + y.size()}, y.shape(1), 1},
      std::vector<std::uint8_t>(is_judged.data(), is_judged.data() + is_judged.size()));
}

double add_tree(OutOfBag& self, const FlatTree& tree, Vector<const std::uint32_t> counts) {
  const auto n_rows = static_cast<std::int64_t>(self.n_rows());
  require_length("counts", counts.size(), n_rows, "row");
  require_length("leaf_of_row", tree.leaf_of_row.size(), n_rows, "row");
  const OutOfBagTargets& targets = self.targets();
  require_length("a value", static_cast<std::size_t>(tree.value_width),
                 static_cast<std::int64_t>(targets.n_outputs * targets.width), "output and class");
  const nb::gil_scoped_release unlocked;
  return self.add(tree, as_span(counts));
}

/// The same for a tree that is packed, of which the leaf of each row is given.
double add_packed(OutOfBag& self, const Forest& trees, std::int64_t number,
                  Vector<const std::int32_t> leaf_of_row, Vector<const std::uint32_t> counts) {
  if (number < 0 || number >= trees.n_trees()) throw nb::index_error("there is no such tree.");
  FlatTree tree = trees.tree(number);
  for (const std::int32_t leaf : as_span(leaf_of_row))
    if (leaf < 0 || leaf >= tree.n_nodes())
      throw nb::value_error("a row is in a leaf that is not there.");
  tree.leaf_of_row.assign(leaf_of_row.data(), leaf_of_row.data() + leaf_of_row.size());
  return add_tree(self, tree, counts);
}

void restore(OutOfBag& self,
             nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu> sums,
             Vector<const std::int32_t> n_trees, Vector<const double> tree_losses) {
  const auto n_rows = static_cast<std::int64_t>(self.n_rows());
  require_length("sums", sums.size(), static_cast<std::int64_t>(self.sums().size()),
                 "row, output and class");
  require_length("n_trees_of_row", n_trees.size(), n_rows, "row");
  require_length("tree_losses", tree_losses.size(), n_rows, "row");
  require_counts("n_trees_of_row", as_span(n_trees));
  self.restore({sums.data(), sums.size()}, as_span(n_trees), as_span(tree_losses));
}

template <class T, int N>
nb::ndarray<nb::numpy, T, nb::ndim<N>> view(const std::shared_ptr<OutOfBag>& self,
                                            std::vector<T>& values, const std::size_t (&shape)[N]) {
  auto* keeper = new std::shared_ptr<OutOfBag>(self);
  nb::capsule owner(
      keeper, [](void* kept) noexcept { delete static_cast<std::shared_ptr<OutOfBag>*>(kept); });
  return nb::ndarray<nb::numpy, T, nb::ndim<N>>(values.data(), N, shape, owner);
}

}  // namespace

void bind_forest(nb::module_& module) {
  nb::class_<Forest>(module, "ForestTrees", nb::is_final(), "Many trees, packed.")
      .def("__init__", &construct, "n_features"_a, "n_outputs"_a, "n_classes"_a.noconvert(),
           "n_categories"_a.noconvert(), "single_precision"_a)
      .def("add", &Forest::add, "tree"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("add_arrays", &add_arrays, "feature"_a.noconvert(), "threshold"_a.noconvert(),
           "children_left"_a.noconvert(), "children_right"_a.noconvert(),
           "missing_go_to_left"_a.noconvert(), "weighted_n_node_samples"_a.noconvert(),
           "value"_a.noconvert(), "category_start"_a.noconvert(), "category_words"_a.noconvert())
      .def_prop_ro("is_single_precision", &Forest::is_single)
      .def_prop_ro("n_trees", &Forest::n_trees)
      .def_prop_ro("n_nodes", &Forest::n_nodes)
      .def_prop_ro("nbytes", &Forest::n_bytes)
      .def_prop_ro("n_features",
                   [](const Forest& self) { return self.shape().n_categories.size(); })
      .def_prop_ro("n_outputs", [](const Forest& self) { return self.shape().n_outputs; })
      .def_prop_ro("width", [](const Forest& self) { return self.shape().width; })
      .def("tree", &tree_of, "number"_a, "The arrays of one of the trees.")
      .def("sums", &sums_of<float>, "X"_a.noconvert(), "begin"_a, "end"_a, "n_threads"_a,
           "weights"_a.noconvert() = nb::none())
      .def("sums", &sums_of<double>, "X"_a.noconvert(), "begin"_a, "end"_a, "n_threads"_a,
           "weights"_a.noconvert() = nb::none())
      .def("leaves", &leaves_of<float>, "X"_a.noconvert(), "n_threads"_a)
      .def("leaves", &leaves_of<double>, "X"_a.noconvert(), "n_threads"_a)
      .def("parts", &parts_of, "Compact arrays that make an equal forest.")
      .def_static("of_parts", &of_parts, "parts"_a);
  using Self = const std::shared_ptr<OutOfBag>&;
  nb::class_<OutOfBag>(module, "OutOfBag", nb::is_final(),
                       "What trees say of the rows that their samples lack, and how wrong that is.")
      .def_static("of_classification", &out_of_bag_classification, "y"_a.noconvert(), "width"_a,
                  "is_judged"_a.noconvert())
      .def_static("of_regression", &out_of_bag_regression, "y"_a.noconvert(),
                  "is_judged"_a.noconvert())
      .def("add", &add_tree, "tree"_a, "counts"_a.noconvert(),
           "Returns the error of all trees so far.")
      .def("add_packed", &add_packed, "trees"_a, "number"_a, "leaf_of_row"_a.noconvert(),
           "counts"_a.noconvert())
      .def("restore", &restore, "sums"_a.noconvert(), "n_trees_of_row"_a.noconvert(),
           "tree_losses"_a.noconvert())
      .def_prop_ro(
          "sums",
          [](Self self) {
            const OutOfBagTargets& targets = self->targets();
            return view<double, 3>(self, self->sums(),
                                   {self->n_rows(), targets.n_outputs, targets.width});
          },
          nb::rv_policy::reference)
      .def_prop_ro(
          "n_trees_of_row",
          [](Self self) { return view<std::int32_t, 1>(self, self->n_trees(), {self->n_rows()}); },
          nb::rv_policy::reference)
      .def_prop_ro(
          "tree_losses",
          [](Self self) { return view<double, 1>(self, self->tree_losses(), {self->n_rows()}); },
          nb::rv_policy::reference);
}

}  // namespace hedgerow::bindings
