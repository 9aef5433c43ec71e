"""Scikit-learn's own tests of single trees, run on ours.

Its ExtraTree classes are trees of random splits, which ours become by their parameters. What differs by
intent is listed, and each listed test must fail in the way that is stated, so that the list cannot
outlive its reasons.
"""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import pytest

from hedgerow import DecisionTreeClassifier, DecisionTreeRegressor
from hedgerow.errors import DataError
from tests.peers.borrowed import Difference, borrow, path_of, with_differences


def of_random_splits(cls: type, name: str, max_features: Any) -> type:
    """Our class with the defaults of scikit-learn's ExtraTree of the same kind."""
    defaults = {"splitter": "random", "max_features": max_features}

    def __init__(self: Any, **parameters: Any) -> None:  # noqa: N807
        cls.__init__(self, **defaults | parameters)

    signature = inspect.signature(cls.__init__)
    __init__.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[
            p.replace(default=defaults.get(p.name, p.default))
            for p in signature.parameters.values()
        ]
    )
    return type(name, (cls,), {"__init__": __init__, "__module__": __name__})


ExtraTreeClassifier = of_random_splits(DecisionTreeClassifier, "ExtraTreeClassifier", "sqrt")
ExtraTreeRegressor = of_random_splits(DecisionTreeRegressor, "ExtraTreeRegressor", 1.0)

# Scikit-learn's test casts numbers that float32 cannot hold.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")

OURS = {
    f"sklearn.tree.{cls.__name__}": cls
    for cls in (
        DecisionTreeClassifier,
        DecisionTreeRegressor,
        ExtraTreeClassifier,
        ExtraTreeRegressor,
    )
}
MODULES = ("tree.tests.test_tree", "tree.tests.test_monotonic_tree", "tree.tests.test_split")

PRIVATE = "the test looks at what is private to scikit-learn, or at its own Tree"
differs = partial(Difference, error=AssertionError, match="Regex pattern did not match")


def of_our_classes(reason: str) -> list[Difference]:
    """The same sentence in another form; scikit-learn's forests are tried beside ours."""
    ours = (DecisionTreeClassifier, ExtraTreeClassifier)
    return [differs(reason, where={"TreeClassifier": cls}) for cls in ours]


did_not_raise = partial(Difference, error=pytest.fail.Exception, match="DID NOT RAISE")

DIFFERENCES = {
    "test_tree.test_error": [differs("that X and y do not fit together is told first")],
    "test_tree.test_min_sample_split_1_error": [differs("told in a sentence of ours")],
    "test_tree.test_class_weight_errors": [differs("told in a sentence of ours")],
    "test_monotonic_tree.test_bad_monotonic_cst_raises": of_our_classes(
        "told in a sentence of ours"
    ),
    "test_monotonic_tree.test_multiple_output_raises": of_our_classes(
        "that there are too few constraints is told first"
    ),
    "test_tree.test_sample_weight_invalid": [
        Difference("one weight is that of all rows, and here it is 0", DataError, "zero")
    ],
    "test_tree.test_almost_constant_feature": [
        Difference("numbers that differ are told apart, however little", AssertionError, None)
    ],
    "test_tree.test_big_input": [did_not_raise("numbers are read as they are, not as float32")],
    "test_tree.test_huge_allocations": [did_not_raise("leaves take memory when they are there")],
    "test_tree.test_no_sparse_y_support": [did_not_raise("several outputs may be sparse")],
    "test_tree.test_missing_value_errors": [did_not_raise("sparse rows may lack values too")],
    "test_tree.test_friedman_mse_deprecation": [
        Difference(
            "another name of squared_error, as it is there", pytest.fail.Exception, "DID NOT WARN"
        )
    ],
    "test_tree.test_random_splitter_missing_values_uses_non_missing_min_max": [
        Difference(
            "where all numbers are equal only the missing values are parted from them",
            AssertionError,
            None,
            where={"y": [0.0, 1.0, 0.0]},
        )
    ],
    "test_tree.test_build_pruned_tree_py": [Difference(PRIVATE, TypeError, "orig_tree")],
    "test_tree.test_build_pruned_tree_infinite_loop": [Difference(PRIVATE, TypeError, "orig_tree")],
}


@pytest.fixture
def global_random_seed():
    """The seed that scikit-learn's tests take unless told otherwise."""
    return 42


BORROWED = {}
for _module in MODULES:
    for _name, _test in borrow(_module, OURS).items():
        _place = f"{_module.rpartition('.')[2]}.{_name}"
        BORROWED[_place] = _test
        globals()[_place.replace(".", "_")] = with_differences(_test, DIFFERENCES.get(_place, []))


@pytest.mark.parametrize("module", MODULES)
def test_scikit_learn_is_installed_with_its_tests(module):
    assert path_of(module).exists(), f"{path_of(module)} is not there, so that it was not run"
    assert any(place.startswith(module.rpartition(".")[2]) for place in BORROWED)


@pytest.mark.parametrize("place", DIFFERENCES)
def test_a_listed_difference_is_about_a_test_that_runs(place):
    parameters = inspect.signature(BORROWED[place]).parameters
    for difference in DIFFERENCES[place]:
        assert set(difference.where) <= set(parameters)
