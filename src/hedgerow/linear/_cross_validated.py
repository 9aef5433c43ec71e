"""A linear machine that chooses its C by cross-validation."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from hedgerow._base.parameters import Rule, one_of, real_number, repeatable_seed
from hedgerow._base.state.rules import AttributeRule, numbers
from hedgerow._engine import check_n_threads
from hedgerow.data.rows import matrix_of
from hedgerow.data.scaling import SCALES, Scaling
from hedgerow.errors import DataError, UnavailableError
from hedgerow.linear._c_path import c_values, fold_scores, grid
from hedgerow.linear._machine import COMMON_RULES, LinearMachine
from hedgerow.monitor import current
from hedgerow.problems.linear import LinearProblem
from hedgerow.search.folds import Fold, given_folds
from hedgerow.search.trials import CHOICES, Trials
from hedgerow.solvers import Settings

__all__ = ["CV_RULES", "FITTED_BY_FOLDS", "CrossValidatedMachine"]

Vector = NDArray[np.float64]
Places = NDArray[np.int64]
Judge: TypeAlias = Callable[[Vector, Places], float]


TIME_FOR_FOLDS = 0.7
"""The share of a time limit that folds may take."""


def _for_scikit_learn(_: Any) -> str | None:
    """Allow anything: scikit-learn says what it makes of it."""
    return None


CV_RULES: Mapping[str, Rule] = {
    **COMMON_RULES,
    "Cs": grid,
    "cv": _for_scikit_learn,
    "scoring": _for_scikit_learn,
    "choice": one_of(*CHOICES),
    "scale": one_of(*SCALES),
    "path_tol": real_number(0, open_low=True),
}
"""Rules of the parameters that machines have which choose C."""

FITTED_BY_FOLDS: Mapping[str, AttributeRule] = {
    "C_": real_number(0, open_low=True),
    "Cs_": numbers("values", low=0.0, open_low=True),
    "scores_": numbers("values", "folds"),
    "gaps_": numbers("values", "folds", low=0.0),
}
"""Rules of the fitted attributes that tell how it was chosen."""


class CrossValidatedMachine(LinearMachine):
    """What ``LinearSVCCV`` and ``LinearSVRCV`` share: from folds to the machine with the best C."""

    _machine_class: ClassVar[type[LinearMachine]]

    Cs: int | Sequence[float]
    cv: Any
    scoring: Any
    choice: str
    scale: str | None
    path_tol: float

    C_: float
    Cs_: Vector
    scores_: Vector
    gaps_: Vector

    @abstractmethod
    def _read(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Return the checked data, without class weights."""

    @abstractmethod
    def _planes(self, data: Any) -> list[LinearProblem]:
        """Return the problems for C = 1."""

    @abstractmethod
    def _truth(self, data: Any) -> NDArray[Any]:
        """Return what is to be predicted, row by row."""

    @abstractmethod
    def _known(self, scores: Vector, data: Any) -> BaseEstimator:
        """Return a model of numbered rows that has these scores for each plane."""

    @abstractmethod
    def _plain_score(self, scores: Vector, rows: Places, data: Any) -> float:
        """Return what the machine's own ``score`` would, with weights, for rows with these scores."""

    @property
    def partial_fit(self) -> Any:
        """There is none: folds need all rows."""
        raise self._needs_all_rows("partial_fit")

    @property
    def fit_files(self) -> Any:
        """There is none: folds need all rows."""
        raise self._needs_all_rows("fit_files")

    def _needs_all_rows(self, name: str) -> UnavailableError:
        return UnavailableError(
            f"{type(self).__name__} has no {name}: folds need all rows at hand; "
            f"choose C on some of them, and use {self._machine_class.__name__}(C=...).{name}"
        )

    def _check(self) -> None:
        LinearMachine._check(self)  # there is neither C nor reg_lambda

    def _choose_and_fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Self:
        """Choose C by folds, and fit the machine to all rows with it."""
        self._check()
        data = self._read(X, y, sample_weight)
        problems, scaling = self._planes(data), self._scaling(data)
        if scaling is None:
            self.Cs_ = c_values(self.Cs, problems[0])
        else:  # zeros may not stay zeros
            problems = [replace(problem, matrix=data.matrix) for problem in problems]
            scaled = replace(problems[0], matrix=matrix_of(scaling.apply(data.X)))
            self.Cs_ = c_values(self.Cs, scaled)
        with current().part("folds", TIME_FOR_FOLDS) as folds:
            self._judge(problems, data, groups)
        chosen = self._trials().choose(self.choice)
        self.C_ = float(self.Cs_[chosen])
        self._take_over(data, scaling, y, sample_weight)
        if folds.reason is None:
            self._trials().warn_at_edge(chosen, add_to="Cs")
        elif self.status_ == "optimal":  # for a C that was chosen by what folds had reached
            self.status_ = folds.reason
        return self

    def _scaling(self, data: Any) -> Scaling | None:
        """Return the scale of all rows."""
        return None if self.scale is None else Scaling.of(data.X, data.sample_weight, self.scale)

    def _at(self, C: float) -> Any:
        """Return the machine for one C."""
        own = self.get_params(deep=False)
        names = self._machine_class().get_params(deep=False)
        shared = {name: own[name] for name in names if name in own}
        return self._machine_class(**shared, C=C)

    def _judge(self, problems: list[LinearProblem], data: Any, groups: Any) -> None:
        """Set the score of each C in each fold."""
        folds = self._folds_of(data, groups)
        weights = [self._fold_weight(data, fold.train) for fold in folds]
        seed, options = repeatable_seed(self.random_state), dict(self.solver_options or {})
        scores, self.gaps_ = fold_scores(
            problems,
            folds,
            weights,
            self.Cs_,
            settings=Settings(float(self.path_tol), int(self.max_iter), seed, options),
            solver=self.solver,
            scale=self.scale,
            n_workers=check_n_threads(self.n_jobs),
        )
        judge = self._judge_of(data)
        by_fold = [
            [judge(at_C, fold.test) for at_C in of_fold]
            for of_fold, fold in zip(scores, folds, strict=True)
        ]
        self.scores_ = np.array(by_fold).T.copy()

    def _folds_of(self, data: Any, groups: Any) -> list[Fold]:
        """Return the folds by scikit-learn's rules for ``cv``."""
        truth = self._truth(data)
        splitter = check_cv(self.cv, truth, classifier=hasattr(data, "classes"))
        try:
            return given_folds(splitter, np.zeros((len(truth), 1)), truth, groups)
        except ValueError as error:
            msg = f"the {len(truth)} rows cannot be split by cv={self.cv!r}: {error}"
            raise DataError(msg) from error

    def _fold_weight(self, data: Any, train: Places) -> Vector:
        """Return the weights for C = 1, which are 0 for rows that are not to be learnt from."""
        weight = np.zeros(len(data.sample_weight))
        weight[train] = data.sample_weight[train]
        return weight

    def _judge_of(self, data: Any) -> Judge:
        """Return what scores some rows of the data at one C."""
        if self.scoring is None:
            return lambda scores, rows: self._plain_score(scores, rows, data)
        truth, scorer = self._truth(data), check_scoring(self, scoring=self.scoring)

        def judge(scores: Vector, rows: Places) -> float:
            return float(scorer(self._known(scores, data), np.arange(len(rows)), truth[rows]))

        return judge

    @property
    def cv_results_(self) -> dict[str, Any]:
        """The scores as a table, with the keys that scikit-learn's searches have."""
        return self._trials().cv_results()

    def _trials(self) -> Trials:
        """Return the values of C with their scores, the simplest machine first."""
        return Trials.of_scores([{"C": C} for C in self.Cs_.tolist()], self.scores_)

    def _take_over(self, data: Any, scaling: Scaling | None, y: Any, sample_weight: Any) -> None:
        """Fit the machine with the chosen C to all rows, and take its fitted attributes."""
        machine = self._at(self.C_)
        machine.fit(data.X if scaling is None else scaling.apply(data.X), y, sample_weight)
        fitted = {name: value for name, value in vars(machine).items() if name.endswith("_")}
        columns = {"n_features_in_", "feature_names_in_"}
        for name in fitted.keys() - columns:
            setattr(self, name, fitted[name])
        if scaling is not None:
            w, self.intercept_ = scaling.folded(np.atleast_2d(self.coef_), self.intercept_)
            self.coef_ = w.reshape(self.coef_.shape)
