"""Sampler, combiner and out-of-bag sums are parts for any ensemble: here they make bags of scikit-learn's learners."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_friedman1
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from hedgerow.ensemble.combining import ClassCombiner, MeanCombiner
from hedgerow.ensemble.out_of_bag_sums import OutOfBagSums
from hedgerow.ensemble.sampling import all_rows_sampler, bootstrap_sampler, class_sampler

N_MEMBERS = 12


def bag(learner, X, y, sampler, combiner, values_of, *, votes=False):
    """Fit a learner on each sample; return the members and what is known out of bag."""
    out_of_bag = OutOfBagSums(combiner, np.ones(len(X), bool), votes=votes, in_core=False)
    members = []
    for k in range(N_MEMBERS):
        rows = sampler.rows(k)
        members.append(learner().fit(X[rows], y[rows]))
        out_of_bag.add_values(values_of(members[k], X), sampler.in_bag(sampler.counts(k)))
    return members, out_of_bag


def shares(member, X):
    return member.predict_proba(X)[:, None, :]


def numbers(member, X):
    return member.predict(X)[:, None, None]


@pytest.mark.parametrize(
    "learner", [GaussianNB, KNeighborsClassifier, lambda: LogisticRegression(max_iter=2000)]
)
@pytest.mark.parametrize("votes", [False, True])
@pytest.mark.parametrize("kind", ["plain", "balanced", "grouped"])
def test_a_bag_of_classifiers_is_what_it_is_by_definition(learner, votes, kind):
    X, y = load_iris(return_X_y=True)
    X, y = X[:130], y[:130]  # of the last class there are fewer
    weights, groups = np.ones(130), np.arange(130) // 2
    combiner = ClassCombiner(y[:, None].astype(np.int32), np.array([3], dtype=np.int32))
    sampler = {
        "plain": bootstrap_sampler(0, weights, None, None),
        "balanced": class_sampler(0, y, weights, None, draws=[(30, True)] * 3, n_redrawn=0),
        "grouped": bootstrap_sampler(0, weights, groups, 0.8),
    }[kind]
    members, out_of_bag = bag(learner, X, y, sampler, combiner, shares, votes=votes)

    sums, n_members = np.zeros((130, 3)), np.zeros(130)
    for k, member in enumerate(members):
        out = sorted(set(range(130)) - set(sampler.rows(k).tolist()))
        said = member.predict_proba(X[out])
        sums[out] += np.eye(3)[said.argmax(axis=1)] if votes else said
        n_members[out] += 1
    found, n_found, _, curve = out_of_bag.state()
    np.testing.assert_allclose(found[:, 0], sums, rtol=1e-12)
    np.testing.assert_array_equal(n_found, n_members)
    is_wrong = sums.argmax(axis=1)[n_members > 0] != y[n_members > 0]
    assert curve[-1] == pytest.approx(is_wrong.mean())
    together = combiner.answers(sum(shares(member, X) for member in members), N_MEMBERS)[:, 0]
    assert np.mean(together == y) > 0.9
    if kind == "grouped":
        drawn = np.bincount(sampler.rows(0), minlength=130).reshape(-1, 2)
        np.testing.assert_array_equal(drawn[:, 0], drawn[:, 1])


def test_a_bag_of_regressors_predicts_the_mean():
    X, y = make_friedman1(200, random_state=0)
    combiner = MeanCombiner(y[:, None])
    sampler = bootstrap_sampler(3, np.ones(200), None, None)
    members, out_of_bag = bag(KNeighborsRegressor, X, y, sampler, combiner, numbers)
    means = np.mean([member.predict(X) for member in members], axis=0)
    sums = sum(numbers(member, X) for member in members)
    np.testing.assert_allclose(combiner.answers(sums, N_MEMBERS)[:, 0], means, rtol=1e-12)
    found, n_found, losses, curve = out_of_bag.state()
    out = [np.bincount(sampler.rows(k), minlength=200) == 0 for k in range(N_MEMBERS)]
    each = np.array([member.predict(X) for member in members])
    np.testing.assert_allclose(found[:, 0, 0], np.sum(each * out, axis=0), rtol=1e-12)
    np.testing.assert_allclose(losses, np.sum((each - y) ** 2 * out, axis=0), rtol=1e-9)
    mean = found[:, 0, 0] / np.maximum(n_found, 1)
    assert curve[-1] == pytest.approx(np.mean((mean - y)[n_found > 0] ** 2))


def test_members_have_seeds_and_samples_of_their_own_that_can_be_drawn_again():
    sampler = bootstrap_sampler(5, np.ones(50), None, None)
    seeds = [sampler.fit_seed(k) for k in range(20)]
    assert len(set(seeds)) == 20
    assert max(seeds) < 2**32
    chosen = sampler.for_members([7, 2])
    np.testing.assert_array_equal(chosen.rows(0), sampler.rows(7))
    assert chosen.fit_seed(1) == seeds[2]
    everything = all_rows_sampler(5, 50)
    assert everything.counts(3) is None
    np.testing.assert_array_equal(everything.rows(3), np.arange(50))
