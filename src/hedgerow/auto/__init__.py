"""What ``hedgerow auto`` does, callable from Python: encode, choose C, fit, test, advise."""

from hedgerow.auto.advice import Hint
from hedgerow.auto.choose import CandidateScore
from hedgerow.auto.encoder import TableEncoder
from hedgerow.auto.fit import AutoResult, auto_fit
from hedgerow.auto.judge import HeldOutReport, Recall
from hedgerow.auto.profile import Profile
from hedgerow.auto.table_classifier import TableClassifier

__all__ = [
    "AutoResult",
    "CandidateScore",
    "HeldOutReport",
    "Hint",
    "Profile",
    "Recall",
    "TableClassifier",
    "TableEncoder",
    "auto_fit",
]
