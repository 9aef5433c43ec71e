"""What ``hedgerow auto`` does, callable from Python: encode, choose C, fit, test, advise."""

from hedgerow.auto.advice import Hint
from hedgerow.auto.choose import CandidateScore
from hedgerow.auto.encoder import TableEncoder
from hedgerow.auto.fit import AutoInterrupt, auto_fit
from hedgerow.auto.judge import HeldOutReport, Recall
from hedgerow.auto.profile import Profile
from hedgerow.auto.result import AutoResult
from hedgerow.auto.rivals import Rival, Rivals
from hedgerow.auto.table_classifier import TableClassifier

__all__ = [
    "AutoInterrupt",
    "AutoResult",
    "CandidateScore",
    "HeldOutReport",
    "Hint",
    "Profile",
    "Recall",
    "Rival",
    "Rivals",
    "TableClassifier",
    "TableEncoder",
    "auto_fit",
]
