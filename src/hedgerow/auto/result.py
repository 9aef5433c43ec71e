"""What auto_fit returns."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hedgerow.auto.choose import CandidateScore
from hedgerow.auto.judge import HeldOutReport
from hedgerow.auto.rivals import Rivals
from hedgerow.auto.table_classifier import TableClassifier
from hedgerow.describe import describe
from hedgerow.describe.hints import Hint
from hedgerow.describe.profile import Profile
from hedgerow.problems.certificates import Certificate

__all__ = ["AutoResult"]


@dataclass(frozen=True, repr=False)
class AutoResult:
    """A tested model, and how it was found. ``print`` shows it as a page.

    Attributes
    ----------
    model : TableClassifier
        Fitted on the training rows with the chosen C.
    C : float
        The chosen C.
    scores : tuple of CandidateScore
        Cross-validated accuracy of every C tried, or of those there was time for.
    n_folds : int
        Folds of the cross-validation they were judged on.
    train_accuracy : float
        Accuracy on the training rows.
    test : HeldOutReport
        Accuracy on the rows kept apart, with its interval, a baseline and recalls.
    certificate : Certificate
        Proof of the quality of the fit.
    advice : tuple of Hint
        What to try next.
    profile : Profile
        What the table is like.
    rivals : Rivals or None
        How a random forest and an SVC do on a sample of the training rows, if they were tried.
    n_train : int
        Number of training rows.
    unfinished : str
        What a search that was cut short has left undone, or nothing.
    interrupted : str
        The step that Ctrl-C ended, "search", "fit" or "test", or nothing.
    """

    model: TableClassifier
    C: float
    scores: tuple[CandidateScore, ...]
    n_folds: int
    train_accuracy: float
    test: HeldOutReport
    certificate: Certificate
    advice: tuple[Hint, ...]
    profile: Profile
    rivals: Rivals | None
    n_train: int
    unfinished: str
    interrupted: str

    def as_dict(self) -> dict[str, Any]:
        """Return everything except the model in a form that JSON can represent.

        Returns
        -------
        dict
            The result.
        """
        return {
            "C": self.C,
            "scores": [asdict(score) for score in self.scores],
            "n_folds": self.n_folds,
            "unfinished": self.unfinished,
            "interrupted": self.interrupted,
            "n_train": self.n_train,
            "train_accuracy": self.train_accuracy,
            "test": asdict(self.test),
            "certificate": describe(self.certificate),
            "rivals": None if self.rivals is None else asdict(self.rivals),
            "advice": [asdict(hint) for hint in self.advice],
            "profile": self.profile.as_dict(),
        }

    def __repr__(self) -> str:
        accuracy = self.test.accuracy
        return (
            f"<AutoResult: C={self.C:.3g}, {100 * accuracy.estimate:.1f} % of {accuracy.n} test rows "
            "predicted right; print it for the whole page>"
        )

    def __str__(self) -> str:
        from hedgerow.auto.page import page_text

        return page_text(self)
