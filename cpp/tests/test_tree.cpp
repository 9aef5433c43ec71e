#include "check.hpp"
#include "hedgerow/system/stop.hpp"
#include "hedgerow/tree/forest.hpp"
#include "hedgerow/tree/grower.hpp"
#include "hedgerow/tree/router.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

using namespace hedgerow;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::shared_ptr<const CodeTable> table_of(const std::vector<double>& x, std::int64_t n_cols) {
  const auto n_rows = static_cast<std::int64_t>(x.size()) / n_cols;
  return std::make_shared<CodeTable>(
      encode(Matrix(DenseRows<double>{x.data(), n_rows, n_cols, n_cols}), 2));
}

TreeTask classes(std::shared_ptr<const CodeTable> table, std::vector<std::int32_t> y,
                 std::int32_t n_classes) {
  return {std::move(table), ClassTargets{ClassCriterion::gini, std::move(y), {n_classes}}, {}};
}

TreeArrays arrays_of(const FlatTree& tree, std::span<const std::int64_t> n_categories) {
  return {tree.feature,      tree.threshold,      tree.left,           tree.right,
          tree.missing_left, tree.category_start, tree.category_words, n_categories};
}

}  // namespace

TEST(codes_are_places_among_the_distinct_numbers) {
  const auto table = table_of({2.5, -0.0, kNan, 0.0, -1.0, 2.5}, 1);
  const CodeColumn& column = table->columns[0];
  CHECK((column.values == std::vector<double>{-1.0, 0.0, 2.5}));
  CHECK(column.has_missing);
  const std::uint32_t expected[] = {2, 1, 3, 1, 0, 2};
  for (std::size_t i = 0; i < 6; ++i) CHECK(column.view()[i] == expected[i]);
}

TEST(codes_by_rows_are_those_by_columns) {
  std::vector<double> x(3000 * 5);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = i % 5 < 2 ? static_cast<double>(i) : static_cast<double>(i * 7919 % (3 + i % 5 * 200));
  const auto table = table_of(x, 5);
  CHECK(!table->rows.empty());
  bool is_same = true;
  for (std::size_t j = 0; j < 5; ++j)
    for (std::size_t i = 0; i < 3000; ++i)
      is_same = is_same && table->view_by_rows(j)[i] == table->columns[j].view()[i];
  CHECK(is_same);
}

TEST(codes_are_as_wide_as_they_must_be) {
  for (const std::size_t n : {255u, 256u, 257u, 1023u, 1024u, 65536u, 65537u}) {
    std::vector<double> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>((i * 7919) % n);
    const auto table = table_of(x, 1);
    const CodeColumn& column = table->columns[0];
    CHECK(column.n_codes == n);
    CHECK(column.width == (n <= 256 ? 1 : n <= 65536 ? 2 : 4));
    bool is_right = true;
    for (std::size_t i = 0; i < n; ++i)
      is_right = is_right && column.values[column.view()[i]] == x[i];
    CHECK(is_right);
  }
}

TEST(a_tree_parts_two_classes_in_the_middle_between_them) {
  const TreeTask task = classes(table_of({1, 2, 5, 7}, 1), {0, 0, 1, 1}, 2);
  const FlatTree tree = grow_tree(task, {}, {}, 0, 0);
  CHECK(tree.n_nodes() == 3);
  CHECK(tree.threshold[0] == 3.5);
  CHECK(tree.impurity[0] == 0.5);
  CHECK((tree.leaf_of_row == std::vector<std::int32_t>{1, 1, 2, 2}));
}

TEST(rows_out_of_the_bag_go_where_the_threshold_says) {
  const TreeTask task = classes(table_of({0, 1, 3}, 1), {0, 1, 1}, 2);
  const std::vector<std::uint32_t> counts{1, 0, 1};
  const FlatTree tree = grow_tree(task, {}, counts, 0, 0);
  CHECK(tree.threshold[0] == 1.5);
  CHECK((tree.leaf_of_row == std::vector<std::int32_t>{1, 1, 2}));
}

TEST(constant_features_do_not_count_among_those_drawn) {
  std::vector<double> x;
  std::vector<std::int32_t> y;
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 30; ++j) x.push_back(j == 17 ? i : 1);
    y.push_back(i % 2);
  }
  TreeSettings settings;
  settings.max_features = 1;
  const FlatTree tree = grow_tree(classes(table_of(x, 30), y, 2), settings, {}, 3, 1);
  CHECK(tree.n_nodes() == 39);
}

TEST(a_tree_that_is_told_to_stop_is_a_leaf) {
  std::vector<double> x(900000);
  std::vector<std::int32_t> y(300000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>((i * 7919) % 3001);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<std::int32_t>(i * 31 % 2);
  const TreeTask task = classes(table_of(x, 3), y, 2);
  StopToken token;
  token.stop();
  const StopScope scope(&token);
  const FlatTree tree = grow_tree(task, {}, {}, 0, 0);
  CHECK(tree.was_stopped);
  CHECK(tree.n_nodes() == 1);
}

TEST(a_forest_predicts_what_its_trees_do_and_is_made_again_of_its_parts) {
  std::vector<double> x;
  std::vector<std::int32_t> y;
  for (int i = 0; i < 200; ++i) {
    x.push_back((i * 37) % 101);
    x.push_back(i % 7 == 0 ? kNan : (i * 53) % 17);
    y.push_back((i * 29) % 3);
  }
  const TreeTask task = classes(table_of(x, 2), y, 3);
  TreeSettings settings;
  settings.max_depth = 5;
  Forest forest({1, 3, true, {0, 0}}, false);
  std::vector<double> expected(600, 0.0);
  const DenseRows<double> rows{x.data(), 200, 2, 2};
  const std::vector<std::int64_t> n_categories{0, 0};
  for (std::uint64_t stream = 0; stream < 3; ++stream) {
    const FlatTree tree = grow_tree(task, settings, {}, 1, stream);
    forest.add(tree);
    std::vector<std::int32_t> leaves(200);
    TreeRouter(arrays_of(tree, n_categories)).leaves(rows, leaves, 1);
    for (std::size_t i = 0; i < 200; ++i)
      for (std::size_t k = 0; k < 3; ++k)
        expected[3 * i + k] += tree.value[3 * static_cast<std::size_t>(leaves[i]) + k];
  }
  std::vector<double> sums(600, 0.0), again(600, 0.0);
  forest.sums(rows, 0, 3, {}, sums, 2);
  CHECK(sums == expected);
  const Forest same = Forest::of_parts(forest.shape(), false, forest.parts());
  same.sums(rows, 0, 3, {}, again, 1);
  CHECK(again == expected);
}

TEST(a_task_with_new_targets_grows_in_the_memory_of_the_old_one) {
  const TreeTask task = classes(table_of({1, 2, 5, 7}, 1), {0, 0, 1, 1}, 2);
  const TreeTask other =
      task.with_targets(ClassTargets{ClassCriterion::gini, {0, 1, 1, 1}, {2}}, {});
  CHECK(grow_tree(task, {}, {}, 0, 0).threshold[0] == 3.5);
  CHECK(grow_tree(other, {}, {}, 0, 0).threshold[0] == 1.5);
  const auto workspace = task.workspaces->take();
  CHECK(workspace != nullptr);
  CHECK(other.workspaces->take() == nullptr);  // it was one and the same
}

TEST(parts_that_lead_nowhere_make_no_forest) {
  const TreeTask task = classes(table_of({1, 2, 5, 7}, 1), {0, 0, 1, 1}, 2);
  Forest forest({1, 2, true, {0}}, false);
  forest.add(grow_tree(task, {}, {}, 0, 0));
  const auto is_refused = [&](auto change) {
    Forest::Parts parts = forest.parts();
    change(parts);
    try {
      Forest::of_parts(forest.shape(), false, parts);
    } catch (const std::invalid_argument&) {
      return true;
    }
    return false;
  };
  CHECK(!is_refused([](Forest::Parts&) {}));
  CHECK(is_refused([](Forest::Parts& parts) { parts.is_leaf[1] = 0; }));
  CHECK(is_refused([](Forest::Parts& parts) { parts.is_leaf[0] = 1; }));
  CHECK(is_refused([](Forest::Parts& parts) { parts.asks[0] = 5; }));
  CHECK(is_refused([](Forest::Parts& parts) { parts.asks[1] = 9; }));
  CHECK(is_refused([](Forest::Parts& parts) { parts.asks[0] |= kByCategories; }));
  CHECK(is_refused([](Forest::Parts& parts) { parts.begins.back() = 2; }));
  CHECK(is_refused([](Forest::Parts& parts) { parts.leaf_weight.pop_back(); }));
  CHECK(is_refused([](Forest::Parts& parts) { parts.threshold.push_back(1.0); }));
  CHECK(is_refused([](Forest::Parts& parts) { parts.word_start.push_back(0); }));
  CHECK(is_refused([](Forest::Parts& parts) { parts.asks.pop_back(); }));
}
