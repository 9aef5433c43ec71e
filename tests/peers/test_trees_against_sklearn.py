"""Our trees against scikit-learn's on numbers without ties: the same splits, figures and leaves.

Nodes are numbered in another order, so that both trees are walked together from their roots. Where two
features part the rows of a node equally well each library may take either, and the walk ends there.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tests.grown_trees import grow, numbers_sample, samples, stops, take
from tests.reference.tree_checks import check_tree
from tests.reference.trees import CLASSES, Settings
from tests.tree_samples import tree_of_sklearn

CRITERIA = ("gini", "entropy", "squared_error", "absolute_error", "poisson")
LIMITS = {
    "no limit": Settings(),
    "depth": Settings(max_depth=4),
    "rows": Settings(min_samples_split=12, min_samples_leaf=5),
    "weight": Settings(min_weight_leaf=9.3),
    "decrease": Settings(min_impurity_decrease=0.004),
    "few leaves": Settings(max_leaf_nodes=9),
    "few leaves and all else": Settings(
        max_leaf_nodes=14, max_depth=5, min_samples_leaf=3, min_impurity_decrease=0.001
    ),
}
each_criterion = pytest.mark.parametrize("criterion", CRITERIA)


def noisy_sample(criterion, *, n_rows=240, n_outputs=1, weighted=False, missing=0.0, seed=0):
    """Numbers that say something of the targets; float32, which is what scikit-learn reads."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).astype(np.float32).astype(np.float64)
    score = X[:, :2].sum(axis=1) + 0.7 * rng.normal(size=n_rows)
    if criterion in CLASSES:
        of_outputs = [np.digitize(score * (-1) ** k, [-1.0, 0.3]) for k in range(n_outputs)]
    elif criterion == "poisson":
        # Scikit-learn takes sides of zeros for others where sums of weights are rounded.
        of_outputs = [rng.poisson(np.exp(0.5 * score)) + weighted for _ in range(n_outputs)]
    else:
        of_outputs = [score + rng.normal(size=n_rows) for _ in range(n_outputs)]
    X[rng.random(X.shape) < missing] = np.nan
    weight = rng.uniform(0.2, 2.0, size=n_rows) if weighted else None
    return numbers_sample(X, np.stack(of_outputs, axis=1), criterion, weight)


def fitted(sample, limits):
    """Scikit-learn's tree of the same sample."""
    cls = DecisionTreeClassifier if sample.n_classes else DecisionTreeRegressor
    total = sample.mass.sum()
    model = cls(
        criterion=sample.criterion,
        max_depth=limits.max_depth,
        min_samples_split=limits.min_samples_split,
        min_samples_leaf=limits.min_samples_leaf,
        min_weight_fraction_leaf=limits.min_weight_leaf / total,
        max_leaf_nodes=limits.max_leaf_nodes,
        min_impurity_decrease=limits.min_impurity_decrease,
        monotonic_cst=limits.monotonic,
        splitter="best" if limits.splitter == "best" else "random",
        random_state=0,
    )
    return model.fit(np.stack(sample.columns, axis=1), sample.y, sample_weight=sample.weight)


def decrease(tree, node):
    """What the split of a node gains."""
    parts = [
        tree.weighted_n_node_samples[child] * tree.impurity[child]
        for child in (tree.children_left[node], tree.children_right[node])
    ]
    return tree.impurity[node] - sum(parts) / tree.weighted_n_node_samples[node]


def assert_same_figures(ours, i, theirs, j):
    assert ours.n_node_samples[i] == theirs.n_node_samples[j]
    for name in ("weighted_n_node_samples", "impurity", "value"):
        one, other = getattr(ours, name)[i], getattr(theirs, name)[j]
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12, err_msg=f"{name} of {i}")


def assert_same_split(ours, i, theirs, j):
    left, right = theirs.children_left[j], theirs.children_right[j]
    n, weight = theirs.n_node_samples, theirs.weighted_n_node_samples
    if (n[left] > n[right]) == (weight[left] > weight[right]):
        # Where none is missing they go with the most rows; of ours, with the most weight.
        assert ours.missing_go_to_left[i] == theirs.missing_go_to_left[j]
    if np.isfinite(theirs.threshold[j]):
        np.testing.assert_allclose(ours.threshold[i], theirs.threshold[j], rtol=1e-15)
    else:  # the missing values alone go to the right
        assert ours.threshold[i] > 1e30


def share_alike(ours, theirs):
    """Walk both trees; return the share of our nodes that are the same in scikit-learn's."""
    stack, n_same, has_ties = [(0, 0)], 0, False
    while stack:
        i, j = stack.pop()
        assert_same_figures(ours, i, theirs, j)
        n_same += 1
        if ours.impurity[i] == 0.0 and ours.children_left[i] < 0:
            # Sums of weights are rounded: scikit-learn may go on where all rows are of one class.
            has_ties = has_ties or theirs.children_left[j] >= 0
            continue
        assert (ours.children_left[i] < 0) == (theirs.children_left[j] < 0), f"node {i}"
        if ours.children_left[i] < 0:
            continue
        if (
            ours.feature[i] != theirs.feature[j]
            or ours.n_node_samples[ours.children_left[i]]
            != (theirs.n_node_samples[theirs.children_left[j]])
        ):
            gains = decrease(ours, i), decrease(theirs, j)
            np.testing.assert_allclose(*gains, rtol=1e-9, atol=1e-13, err_msg=f"split of {i}")
            has_ties = True
            continue
        assert_same_split(ours, i, theirs, j)
        stack.append((ours.children_left[i], theirs.children_left[j]))
        stack.append((ours.children_right[i], theirs.children_right[j]))
    assert has_ties or len(ours.feature) == theirs.node_count
    return n_same / len(ours.feature)


@each_criterion
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
def test_trees_are_those_of_scikit_learn(criterion, weighted, limits):
    sample = noisy_sample(criterion, weighted=weighted)
    alike = share_alike(grow(sample, limits), fitted(sample, limits).tree_)
    # Nodes of few rows have many equally good splits.
    assert alike >= (0.8 if limits.min_samples_leaf > 2 or limits.max_depth else 0.4)


@each_criterion
def test_of_one_feature_every_node_is_the_same(criterion):
    sample = noisy_sample(criterion, weighted=True, seed=3)  # without weights there are ties
    sample = replace(sample, columns=sample.columns[:1], n_categories=(0,))
    assert share_alike(grow(sample), fitted(sample, Settings()).tree_) > 0.95


@each_criterion
@pytest.mark.parametrize("n_outputs", [2, 3])
def test_several_outputs_are_split_as_in_scikit_learn(criterion, n_outputs):
    sample = noisy_sample(criterion, n_outputs=n_outputs, weighted=True)
    limits = Settings(min_samples_leaf=4)
    assert share_alike(grow(sample, limits), fitted(sample, limits).tree_) > 0.8


@each_criterion
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("limits", [Settings(min_samples_leaf=6), Settings(max_leaf_nodes=8)])
def test_missing_values_are_routed_as_in_scikit_learn(criterion, weighted, limits):
    sample = noisy_sample(criterion, weighted=weighted, missing=0.2)
    assert share_alike(grow(sample, limits), fitted(sample, limits).tree_) > 0.8


@each_criterion
@pytest.mark.parametrize("limits", [Settings(min_samples_leaf=4), Settings(max_leaf_nodes=9)])
@pytest.mark.parametrize("signs", [(1, 1, 0, 0), (-1, 0, 1, 0), (0, 1, 1, -1)])
def test_monotonic_trees_are_those_of_scikit_learn(criterion, limits, signs):
    sample = noisy_sample(criterion, weighted=True)
    if sample.n_classes:
        sample = replace(sample, y=(sample.y > 1).astype(np.int32), n_classes=(2,))
    limits = replace(limits, monotonic=signs)
    assert share_alike(grow(sample, limits), fitted(sample, limits).tree_) > 0.8


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_more_values_than_two_bytes_can_count_are_split_as_in_scikit_learn(criterion):
    rng = np.random.default_rng(0)
    X = rng.permutation(70_000).astype(np.float64)[:, None]
    y = np.sin(X[:, 0] / 9000) + rng.normal(size=70_000)
    sample = numbers_sample(X, y if criterion == "squared_error" else y > 0, criterion)
    limits = Settings(max_depth=4)
    assert share_alike(grow(sample, limits), fitted(sample, limits).tree_) == 1.0


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson"])
@pytest.mark.parametrize("limits", [Settings(min_samples_leaf=25), Settings(max_leaf_nodes=300)])
def test_many_rows_are_split_as_in_scikit_learn_at_every_depth(criterion, limits):
    sample = noisy_sample(criterion, n_rows=20_000, weighted=True)
    coarse = tuple(
        np.round(x, digits) for x, digits in zip(sample.columns, (6, 1, 2, 0), strict=True)
    )
    sample = as_float32(replace(sample, columns=coarse))
    ours, theirs = grow(sample, limits), fitted(sample, limits)
    assert share_alike(ours, theirs.tree_) > 0.95


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_many_rows_drawn_in_a_bootstrap_are_split_as_in_scikit_learn(criterion):
    sample = noisy_sample(criterion, n_rows=20_000)
    counts = np.random.default_rng(0).multinomial(20_000, np.full(20_000, 1 / 20_000))
    drawn = replace(sample, counts=counts.astype(np.uint32))
    repeated = take(sample, np.repeat(np.arange(20_000), counts))
    limits = Settings(max_leaf_nodes=150)
    ours, theirs = grow(drawn, limits), fitted(repeated, limits)
    assert share_alike(ours, theirs.tree_) > 0.95
    out_of_bag = counts == 0
    X = np.stack(sample.columns, axis=1)[out_of_bag]
    np.testing.assert_allclose(
        ours.value[ours.leaf_of_row[out_of_bag]], theirs.tree_.value[theirs.apply(X)], rtol=1e-9
    )


# ------------------------------------------------------------------------------- who judges the judge


@each_criterion
@settings(max_examples=30)
@given(data=st.data())
def test_our_judge_finds_trees_of_scikit_learn_right(criterion, data):
    sample = as_float32(data.draw(plain_samples(criterion)))
    limits = data.draw(stops().filter(lambda limits: limits.max_depth != 0))
    limits = replace(limits, min_weight_leaf=0.0)
    model = fitted(sample, limits)
    X = np.stack(sample.columns, axis=1)
    check_tree(sample, tree_of_sklearn(model.tree_, X.shape[1]), model.apply(X), limits)


@each_criterion
def test_our_judge_finds_trees_of_random_splits_wrong(criterion):
    sample = noisy_sample(criterion, n_rows=40)
    model = fitted(sample, Settings(splitter="random"))
    X = np.stack(sample.columns, axis=1)
    with pytest.raises(AssertionError):
        check_tree(sample, tree_of_sklearn(model.tree_, 4), model.apply(X), Settings())


@pytest.mark.parametrize("name", ["impurity", "value", "threshold", "weighted_n_node_samples"])
def test_our_judge_finds_a_wrong_figure(name):
    sample = noisy_sample("gini", n_rows=40)
    model = fitted(sample, Settings())
    tree = tree_of_sklearn(model.tree_, 4)
    wrong = getattr(tree, name).copy()
    wrong[0] += 0.01
    X = np.stack(sample.columns, axis=1)
    with pytest.raises(AssertionError):
        check_tree(sample, replace(tree, **{name: wrong}), model.apply(X), Settings())


@pytest.mark.parametrize("limits", [Settings(max_depth=3), Settings(min_samples_split=9)])
def test_our_judge_finds_leaves_that_could_be_split(limits):
    sample = noisy_sample("gini", n_rows=40)
    model = fitted(sample, limits)
    X = np.stack(sample.columns, axis=1)
    with pytest.raises(AssertionError, match="could have been split"):
        check_tree(sample, tree_of_sklearn(model.tree_, 4), model.apply(X), Settings())


def plain_samples(criterion):
    """Samples that scikit-learn can take."""
    columns = ("two values", "few values", "many values", "constant")
    return samples(criterion, columns=columns, bootstrap=False, classes=(2,)).filter(
        lambda sample: not sample.n_classes or len(np.unique(sample.y[sample.root])) == 2
    )


def as_float32(sample):
    return replace(
        sample, columns=tuple(x.astype(np.float32).astype(np.float64) for x in sample.columns)
    )
