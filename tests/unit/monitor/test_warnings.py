"""Warnings point at the user's line, and one that belongs to the columns is given once."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import hedgerow
from hedgerow import SVC, SVR, LinearSVC, ScaleWarning, bootstrap_error
from hedgerow.errors import forget_warnings, warn_user

RNG = np.random.RandomState(0)
X = RNG.randn(60, 2) * [1.0, 1e4]
y = (X[:, 0] > 0).astype(int)


def given(call, category=ScaleWarning):
    """Return the warnings that a call gives, every one of them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [each for each in caught if each.category is category]


def test_a_search_says_once_that_scales_differ():
    search = GridSearchCV(SVC(), {"C": [0.1, 1.0, 10.0]}, cv=3)
    told = given(lambda: search.fit(X, y))
    assert [each.filename for each in told] == [__file__]
    assert not given(lambda: SVC().fit(X, y))


def test_other_columns_are_told_of_too():
    assert given(lambda: SVC().fit(X, y))
    assert given(lambda: SVC().fit(np.hstack([X, X]), y))
    for names in (["age", "income"], ["age", "wealth"]):
        frame = pd.DataFrame(X, columns=names)
        assert given(lambda frame=frame: SVC().fit(frame, y))
        assert not given(lambda frame=frame: SVC().fit(frame[::-1], y[::-1]))


def test_forgotten_warnings_are_given_again():
    assert given(lambda: SVC().fit(X, y))
    forget_warnings()
    assert given(lambda: SVC().fit(X, y))


def test_a_warning_that_is_an_error_is_one_every_time():
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ScaleWarning):
                SVC().fit(X, y)


def test_many_threads_say_it_once():
    with ThreadPoolExecutor(8) as pool:
        told = given(lambda: list(pool.map(lambda _: SVC().fit(X, y), range(16))))
    assert len(told) == 1


@pytest.mark.parametrize("where", [None, "threads", "threading"])
def test_a_fit_elsewhere_points_at_the_line_that_asked_for_it(where):
    def call():
        with hedgerow.engine(where):
            bootstrap_error(SVC(), X, y, n_resamples=25, random_state=0)

    assert {each.filename for each in given(call)} == {__file__}


def test_lines_of_scikit_learn_and_joblib_are_passed_over():
    line = make_pipeline(FunctionTransformer(), SVC())
    told = given(lambda: cross_val_score(line, X, y, cv=3))
    assert [each.filename for each in told] == [__file__]


def test_a_warning_without_a_subject_is_given_every_time():
    told = given(lambda: [warn_user("careful", UserWarning) for _ in range(3)], UserWarning)
    assert len(told) == 3


def test_pythons_own_rule_of_once_a_line_still_holds():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            warn_user("careful on this line", UserWarning)
    assert len(caught) == 1


@pytest.mark.parametrize("model", [LinearSVC(), SVR()], ids=str)
def test_a_column_in_place_of_labels_is_told_at_the_users_line(model):
    told = given(lambda: model.fit(X / [1.0, 1e4], y[:, None]), DataConversionWarning)
    assert [each.filename for each in told] == [__file__]


def test_code_without_a_module_can_be_warned():
    told = given(
        lambda: exec("warn_user('careful', UserWarning)", {"warn_user": warn_user}), UserWarning
    )
    assert len(told) == 1


@pytest.mark.long
def test_a_worker_process_says_it_once_and_points_at_the_program(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import numpy as np
            import hedgerow

            if __name__ == "__main__":
                X = np.random.RandomState(0).randn(60, 2) * [1.0, 1e4]
                y = (X[:, 0] > 0).astype(int)
                with hedgerow.engine("loky"):
                    hedgerow.bootstrap_error(hedgerow.SVC(), X, y, n_resamples=25, n_jobs=2)
            """
        )
    )
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, check=True, timeout=120
    )
    told = [line for line in done.stderr.splitlines() if "ScaleWarning" in line]
    assert 1 <= len(told) <= 3  # two workers and the process that asked
    assert all(line.startswith(f"{program}:9:") for line in told)
