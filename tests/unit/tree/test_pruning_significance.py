"""Pruning by significance: tests held against SciPy and against every way to deal labels out."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
import scipy.stats as st
from sklearn.datasets import load_diabetes, load_iris

from hedgerow.errors import ParameterError
from hedgerow.tree.pruning import prune, split_p_values
from hedgerow.tree.pruning._permutation import PURITIES, _beyond, permutation_p_values, whole_counts
from hedgerow.tree.pruning.significance import prune_insignificant
from tests.reference.pruning import (
    SlowClassifier,
    SlowRegressor,
    chi_squared_p,
    noisy,
    prune_one_by_one,
    pruned_nodes,
    random_tree,
    shuffled_p,
)


def counts_in(model, X, y, node):
    """Rows of each class in both children of a node."""
    tree, leaves = model.tree_, model.apply(X)
    sides = []
    for child in (tree.children_left[node], tree.children_right[node]):
        under = {int(child)}
        for k in range(int(child), tree.node_count):
            if tree.parent[k] in under:
                under.add(k)
        inside = np.isin(leaves, list(under))
        sides.append([int(np.sum(inside & (y == label))) for label in model.classes_])
    return sides


# --------------------------------------------------------------------------------- what is dropped


@pytest.mark.parametrize("seed", range(30))
def test_what_stays_is_what_dropping_splits_one_by_one_leaves(seed):
    tree = random_tree(seed, n_leaves=1 + seed)
    p = np.random.default_rng(seed).random(tree.node_count)
    for alpha in (0.01, 0.05, 0.3):
        small = prune_insignificant(tree, p, alpha)
        judged = prune_one_by_one(tree, lambda node, alpha=alpha: p[node] <= alpha)
        assert pruned_nodes(tree, small) == judged


def test_alpha_0_leaves_the_root_and_alpha_1_leaves_everything():
    X, y = noisy(0, n=100)
    model = SlowClassifier(random_state=0).fit(X, y)
    assert prune(model, alpha=0).tree_.node_count == 1
    assert prune(model, alpha=1).tree_.node_count == model.tree_.node_count


@pytest.mark.parametrize("test", ["chi2", "permutation"])
def test_a_larger_alpha_keeps_every_split_that_a_smaller_one_keeps(test):
    X, y = noisy(0, n=300)
    model = SlowClassifier(random_state=0, n_candidates=30).fit(X, y)
    sizes = []
    for alpha in (1e-6, 1e-3, 0.05, 0.5, 0.99):
        small = prune(model, alpha=alpha, test=test, random_state=1)
        smaller = prune(small, alpha=alpha, test=test, random_state=1)
        assert smaller.tree_.n_leaves == small.tree_.n_leaves
        sizes.append(small.tree_.n_leaves)
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_what_matters_stays_and_what_does_not_goes():
    """The first feature tells the class, a tenth of the labels are wrong: one split is right."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = (X[:, 0] > 0) ^ (rng.random(400) < 0.1)
    model = SlowClassifier(random_state=0, n_candidates=4 * 399).fit(X, y)
    small = prune(model)
    assert model.tree_.n_leaves > 30
    assert small.tree_.n_leaves == 2
    assert small.tree_.feature[0] == 0


# ---------------------------------------------------------------------------------- chi-squared


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_chi_squared_is_that_of_scipy_on_the_counts_of_rows(n_classes):
    X, y = noisy(n_classes, n=150, n_classes=n_classes)
    model = SlowClassifier(random_state=0, max_depth=5).fit(X, y)
    for options in ({}, {"X": X, "y": y}):
        p = split_p_values(model, test="chi2", correction="none", **options)
        assert np.all(np.isnan(p) == model.tree_.is_leaf)
        for node in model.tree_.bottom_up():
            left, right = counts_in(model, X, y, node)
            of_table = st.multivariate_hypergeom.pmf(left, np.add(left, right), sum(left))
            least = max(chi_squared_p(left, right), of_table)
            assert p[node] == pytest.approx(least, rel=1e-9)


# ---------------------------------------------------------------------------------- permutation


TABLES = [
    ((9, 0), (0, 1)),
    ((3, 2), (1, 4)),
    ((5, 0), (0, 5)),
    ((2, 2), (2, 2)),
    ((4, 0, 0), (0, 3, 2)),
    ((2, 1, 1), (1, 2, 3)),
    ((1, 0, 0, 2), (1, 3, 2, 0)),
    ((0, 3, 0, 1), (0, 0, 0, 4)),
]


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("table", TABLES)
def test_small_tables_have_the_share_of_all_ways_to_deal_their_labels_out(table, criterion):
    left, right = np.array([table[0]]), np.array([table[1]])
    for sides in ((left, right), (right, left), (left[:, ::-1], right[:, ::-1])):
        p = permutation_p_values(*sides, criterion, 9999, 0)
        assert p[0] == pytest.approx(shuffled_p(*table, criterion), rel=1e-9)


def test_two_classes_of_equal_sides_have_the_p_value_of_fisher():
    """With equal sides the tables are symmetric, and as improbable ones improve as much."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        n, of_class = int(rng.integers(2, 300)), rng.integers(1, 200, size=2)
        of_class[1] = 2 * n - of_class[0] if 2 * n > of_class[0] else of_class[1]
        n = int(of_class.sum()) // 2
        if of_class.sum() % 2:
            continue
        k = int(rng.integers(max(0, n - of_class[1]), min(of_class[0], n) + 1))
        left = np.array([[k, n - k]])
        p = permutation_p_values(left, of_class - left, "gini", 99, 0)[0]
        assert p == pytest.approx(st.fisher_exact([left[0], of_class - left[0]])[1], rel=1e-6)


def test_large_tables_of_two_classes_are_summed_in_pieces():
    left, right = np.array([[300_000, 200_000]]), np.array([[298_500, 201_500]])
    p = permutation_p_values(left, right, "gini", 99, 0)[0]
    assert p == pytest.approx(chi_squared_p(left[0], right[0]), rel=0.01)


def test_draws_agree_with_all_tables():
    """The same tables, with few draws so that they are drawn, and with many so that all are looked at."""
    rng = np.random.default_rng(0)
    of_class = np.array([19, 18, 17, 16])
    left = rng.multivariate_hypergeometric(of_class, 30, size=200)
    exact = permutation_p_values(left, of_class - left, "gini", 10_000, 0)
    drawn = permutation_p_values(left, of_class - left, "gini", 400, 0)
    assert np.any(exact != drawn)
    np.testing.assert_allclose(drawn, exact, atol=4 * np.sqrt(0.25 / 40))
    again = permutation_p_values(left, of_class - left, "gini", 400, 0)
    np.testing.assert_array_equal(drawn, again)
    other = permutation_p_values(left, of_class - left, "gini", 400, 1)
    assert np.any(drawn != other)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_far_beyond_the_draws_p_is_right_to_a_small_factor(criterion):
    rng = np.random.default_rng(0)
    of_class = np.full(7, 10)
    many = rng.multivariate_hypergeometric(of_class, 20, size=400_000, method="marginals")
    purity = PURITIES[criterion](many.astype(float), (of_class - many).astype(float))
    for p in (1e-3, 1e-4):
        k = np.argsort(purity)[-int(p * len(purity))]
        true = np.mean(purity >= purity[k] - 1e-9)
        found = permutation_p_values(many[[k]], of_class - many[[k]], criterion, 9999, 0)[0]
        assert 1 / 3 < found / true < 3


def test_no_p_value_is_below_the_probability_of_the_table_itself():
    """A curve through so few draws would say 4e-6 for some seeds."""
    left, of_class = np.array([[4, 0, 0, 0, 0, 0, 0]]), np.full((1, 7), 8)
    p = [permutation_p_values(left, of_class - left, "gini", 99, seed)[0] for seed in range(20)]
    assert min(p) == pytest.approx(comb(8, 4) / comb(56, 4))


@pytest.mark.parametrize(
    "law", [lambda rng: rng.gamma(2.0, size=5000), lambda rng: -rng.gamma(3.0, size=5000)]
)
def test_the_curve_beyond_the_draws_is_pearsons_of_type_iii(law):
    draws = law(np.random.default_rng(0))
    for z in (-5.0, 0.0, 2.0, 6.0):
        observed = draws.mean() + z * draws.std()
        assert _beyond(draws, observed) == pytest.approx(
            st.pearson3.sf(z, st.skew(draws)), rel=1e-6, abs=1e-12
        )
    assert _beyond(np.r_[draws - draws.mean(), draws.mean() - draws], 0.0) == pytest.approx(0.5)
    assert _beyond(np.ones(9), 1.0) == 1.0


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_p_values_of_labels_that_are_shuffled_are_uniform(n_classes):
    """No more than the share u of p-values is below u; for large tables no less either."""
    rng = np.random.default_rng(n_classes)
    of_class = rng.integers(15, 40, size=n_classes)
    left = rng.multivariate_hypergeometric(of_class, int(of_class.sum() * 0.4), size=1500)
    p = permutation_p_values(left, of_class - left, "gini", 999, 0)
    for u in (0.02, 0.1, 0.3, 0.7):
        spread = 4 * np.sqrt(u * (1 - u) / len(p))
        assert np.mean(p <= u) < u + spread
        assert np.mean(p <= u) > u - spread - (0.15 if n_classes == 2 else 0.02)


def test_counts_are_rounded_to_whole_numbers_with_the_same_sum():
    counts = np.array([[1.5, 2.25, 0.25], [3.0, 1e-13, 2.0], [0.0, 0.0, 7.0]])
    np.testing.assert_array_equal(whole_counts(counts), [[2, 2, 0], [3, 0, 2], [0, 0, 7]])


# ------------------------------------------------------------------------------------ regression


def test_the_f_test_is_that_of_scipy():
    X, y = load_diabetes(return_X_y=True)
    model = SlowRegressor(random_state=0, max_depth=6).fit(X, y)
    leaves = model.apply(X)
    for options in ({}, {"X": X, "y": y}):
        p = split_p_values(model, correction="none", **options)
        for node in model.tree_.bottom_up():
            sides = []
            for child in (model.tree_.children_left[node], model.tree_.children_right[node]):
                under = [k for k in range(model.tree_.node_count) if child in ancestors(model, k)]
                sides.append(y[np.isin(leaves, under)])
            n = len(sides[0]) + len(sides[1])
            if n == 2:
                assert p[node] == 1.0
            elif np.ptp(sides[0]) + np.ptp(sides[1]) > 0:
                least = max(st.f_oneway(*sides).pvalue, 1 / comb(n, len(sides[0])))
                assert p[node] == pytest.approx(least, rel=1e-6)


def ancestors(model, node):
    found = [node]
    while found[-1] > 0:
        found.append(int(model.tree_.parent[found[-1]]))
    return found


def test_noise_of_numbers_goes_and_a_step_stays():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = 2.0 * (X[:, 1] > 0.3) + rng.normal(size=300)
    model = SlowRegressor(random_state=0, n_candidates=3 * 299).fit(X, y)
    small = prune(model, test="f")
    assert small.tree_.feature[0] == 1
    assert small.tree_.n_leaves == 2


def test_a_step_without_noise_is_as_improbable_as_its_rows_on_one_side_and_two_rows_never_are():
    X = np.arange(6.0)[:, None]
    model = SlowRegressor(random_state=0).fit(X, [0.0, 0, 0, 1, 1, 1])
    assert split_p_values(model)[0] == pytest.approx(1 / 20)
    two = SlowRegressor(random_state=0).fit(X[:2], [0.0, 1.0])
    assert split_p_values(two)[0] == 1.0


@pytest.mark.parametrize("test", ["f", "chi2", "permutation"])
def test_a_single_row_that_is_split_off_proves_nothing(test):
    """However far off it is, it had to be somewhere."""
    X, y = np.arange(50.0)[:, None], np.zeros(50)
    y[-1] = 1e6
    model = (SlowRegressor if test == "f" else SlowClassifier)(random_state=0, n_candidates=49)
    p = split_p_values(model.fit(X, y), test=test)
    assert p[0] == pytest.approx(1 - (1 - 1 / 50) ** 49)


def test_several_outputs_that_are_the_same_are_tested_as_one():
    X, y = load_diabetes(return_X_y=True)
    one = SlowRegressor(random_state=0, max_depth=4).fit(X, y)
    two = SlowRegressor(random_state=0, max_depth=4).fit(X, np.stack([y, y], axis=1))
    np.testing.assert_allclose(split_p_values(two), split_p_values(one), rtol=1e-9)
    given = split_p_values(two, X=X, y=np.stack([y, y], axis=1))
    np.testing.assert_allclose(given, split_p_values(one), rtol=1e-6)


# ----------------------------------------------------------------------------------- corrections


def test_the_correction_is_that_of_sidak_for_the_splits_compared_and_the_outputs():
    X, y = noisy(0, n=120)
    one = SlowClassifier(random_state=0, max_depth=3, n_candidates=17).fit(X, y)
    for test in ("chi2", "permutation"):
        plain = split_p_values(one, test=test, correction="none")
        corrected = split_p_values(one, test=test)
        np.testing.assert_allclose(corrected, 1 - (1 - plain) ** 17, rtol=1e-6, atol=1e-12)
    both = np.stack([y, (X[:, 1] > 0) * 1], axis=1)
    two = SlowClassifier(random_state=0, max_depth=3, n_candidates=17).fit(X, both)
    plain = []
    for k in range(2):
        alone = SlowClassifier(random_state=0)
        alone.tree_, alone.n_features_in_ = one_output(two.tree_, k), 3
        plain.append(split_p_values(alone, test="chi2", correction="none"))
    least = np.min(plain, axis=0)
    corrected = split_p_values(two, test="chi2")
    np.testing.assert_allclose(corrected, 1 - (1 - least) ** 34, rtol=1e-6, atol=1e-12)


def one_output(tree, k):
    parts = {name: getattr(tree, name) for name in type(tree).__dataclass_fields__}
    return type(tree)(**{**parts, "value": tree.value[:, [k]].copy()})


@pytest.mark.parametrize("model", [SlowClassifier(random_state=0), SlowRegressor(random_state=0)])
def test_weights_that_are_all_doubled_change_no_p_value(model):
    X, y = noisy(0, n=120)
    p = [split_p_values(model.fit(X, y, np.full(120, w)), random_state=0) for w in (1.0, 2.0, 0.25)]
    np.testing.assert_allclose(p[1], p[0], rtol=1e-6)
    np.testing.assert_allclose(p[2], p[0], rtol=1e-6)


def test_weights_look_like_rows_until_the_rows_are_given():
    """One row of a class, as heavy as a thousand of the other, is among eleven that are split off."""
    X = np.minimum(np.arange(1001.0), 990.0)[:, None]
    y = np.arange(1001) == 1000
    weight = np.where(y, 1000.0, 1.0)
    model = SlowClassifier(random_state=0, max_depth=1, n_candidates=990).fit(X, y, weight)
    assert prune(model).tree_.n_leaves == 2
    assert prune(model, X=X, y=y).tree_.n_leaves == 1


def test_new_rows_test_what_the_old_ones_made_up():
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(2, 300, 4))
    y, labels = ((rows[:, 0] > 0) ^ (rng.random(300) < 0.2) for rows in (X, new))
    model = SlowClassifier(random_state=0).fit(X, y)
    small = prune(model, X=new, y=labels, correction="none", alpha=0.001)
    assert small.tree_.n_leaves < 6
    assert small.tree_.feature[0] == 0
    nowhere = split_p_values(model, X=new[:1], y=labels[:1])
    assert np.nanmin(nowhere) == 1.0


# ---------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 1.5}, "alpha=1.5 is no level of significance"),
        ({"alpha": None}, "alpha=None"),
        ({"test": "f"}, "test='f' is not allowed for a SlowClassifier"),
        ({"correction": "holm"}, "correction='holm'"),
        ({"n_permutations": 10}, "n_permutations=10"),
        ({"X": [[0.0]]}, "X and y belong together"),
        ({"test": "permutation", "random_state": "seed"}, "random_state='seed'"),
        ({"sample_weight": [1.0]}, "has no option sample_weight"),
    ],
)
def test_options_that_classes_cannot_be_tested_by_are_refused(options, message):
    model = SlowClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    with pytest.raises(ParameterError, match=message):
        prune(model, **options)


def test_numbers_need_a_record_of_variances_or_the_rows():
    X, y = load_diabetes(return_X_y=True)
    model = SlowRegressor(criterion="absolute_error", max_depth=4, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="criterion='absolute_error' has no record"):
        prune(model)
    assert 1 < prune(model, X=X, y=y).tree_.n_leaves < model.tree_.n_leaves
    with pytest.raises(ParameterError, match="test='chi2' is not allowed for a SlowRegressor"):
        prune(model, test="chi2")
