"""What to try next: named hints, each one sentence, about things that can be done today."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hedgerow.auto.choose import CandidateScore
from hedgerow.auto.judge import HeldOutReport
from hedgerow.auto.rivals import Rival, Rivals
from hedgerow.describe.hints import TABLE_RULES, Hint
from hedgerow.describe.profile import Profile
from hedgerow.problems.certificates import Certificate
from hedgerow.search.trials import edge_of

__all__ = ["Evidence", "advise"]

_OVERFIT = 0.05
_UNDERFIT = 0.85
_UNBALANCED = 3.0
_POOR_RECALL = 0.5
_WIDE = 0.1


@dataclass(frozen=True)
class Evidence:
    """What advice is drawn from."""

    profile: Profile
    scores: tuple[CandidateScore, ...]
    train_accuracy: float
    test: HeldOutReport
    certificate: Certificate
    unfinished: str = ""
    interrupted: str = ""
    rivals: Rivals | None = None

    @property
    def better(self) -> tuple[Rival, ...]:
        """The learners that do better than the linear classifier, the best first."""
        rivals = () if self.rivals is None else self.rivals.others
        return tuple(rival for rival in rivals if rival.is_better)


def advise(evidence: Evidence) -> tuple[Hint, ...]:
    """Return the hints that apply, the gravest first."""
    hints = [Hint(name, rule(evidence)) for name, rule in _RULES.items()]
    learner = evidence.better[0].learner if evidence.better else ""
    hints = [replace(h, learner=learner) if h.name == "too_simple" else h for h in hints]
    return tuple(hint for hint in hints if hint.sentence)


def _not_certified(seen: Evidence) -> str:
    if seen.certificate.is_certified:
        return ""
    remedies = {"time_limit": "give it more time", "interrupted": "let it come to its end"}
    more = remedies.get(seen.certificate.status, "raise max_iter")
    return f"The fit did not reach its tolerance: {more}, or choose a smaller C."


def _search_cut_short(seen: Evidence) -> str:
    if not seen.unfinished:
        return ""
    more = "let it come to its end" if seen.interrupted else "give it more time"
    return (
        f"The search ended {seen.unfinished}, so another C may be better: {more}, or give it fewer "
        "values of C."
    )


def _no_better_than_baseline(seen: Evidence) -> str:
    if seen.test.accuracy.low > seen.test.baseline:
        return ""
    remedy = "" if seen.better else ", so add columns that could"
    return (
        f"The model is not shown to be better than always answering {seen.test.baseline_label!r}: "
        f"the columns say little about the target in a linear way{remedy}."
    )


def _overfit(seen: Evidence) -> str:
    gap = seen.train_accuracy - seen.test.accuracy.estimate
    if gap < _OVERFIT or seen.train_accuracy <= seen.test.accuracy.high:
        return ""
    return (
        f"Training rows are predicted better ({_percent(seen.train_accuracy)}) than test rows "
        f"({_percent(seen.test.accuracy.estimate)}): try more rows, fewer columns or a smaller C."
    )


def _too_simple(seen: Evidence) -> str:
    """Say what the rivals have shown; without them, what the training rows make likely."""
    if seen.better:
        return _better_words(seen.better, seen.rivals)
    if seen.train_accuracy >= _UNDERFIT or _overfit(seen):
        return ""
    found = f"Even of the training rows only {_percent(seen.train_accuracy)} are right"
    if seen.rivals is None:
        return (
            f"{found}: a linear classifier may be too simple here, so compare it in Python with "
            "TableClassifier(RandomForestClassifier()) and TableClassifier(SVC())."
        )
    first, second = seen.rivals.others
    return (
        f"{found}, and on {seen.rivals.n_rows:,} of them neither {first.name} "
        f"({_percent(first.accuracy)}) nor {second.name} ({_percent(second.accuracy)}) is clearly "
        f"better than a linear classifier ({_percent(seen.rivals.accuracy)}): add columns that say "
        "more about the target."
    )


def _better_words(better: tuple[Rival, ...], rivals: Rivals | None) -> str:
    assert rivals is not None
    each = " and ".join(f"{rival.name} {_percent(rival.accuracy)}" for rival in better)
    return (
        f"A linear classifier is too simple here: it gets {_percent(rivals.accuracy)} of "
        f"{rivals.n_rows:,} training rows right when it has not seen them, {each}, so try "
        f"TableClassifier({better[0].learner}) in Python."
    )


def _unbalanced(seen: Evidence) -> str:
    counts = seen.profile.classes.values()
    worst = min(seen.test.recalls, key=lambda recall: recall.share)
    if max(counts) < _UNBALANCED * min(counts) or worst.share >= _POOR_RECALL:
        return ""
    return (
        f"The classes are unbalanced and only {worst.n_found} of {worst.n_rows} rows of "
        f"{worst.label!r} were found: try class_weight='balanced' "
        "(hedgerow train --class-weight balanced)."
    )


def _c_at_edge(seen: Evidence) -> str:
    """Speak up if accuracy still rises, by more than chance, at the end where the best C is."""
    best, *others = sorted(seen.scores, key=lambda score: -score.accuracy) or (None,)
    if best is None or not others or best.accuracy - others[0].accuracy <= best.standard_error:
        return ""
    side = edge_of(best.C, [score.C for score in seen.scores])
    if side is None:
        return ""
    beyond = f"down to {best.C / 64:g}" if side == "smallest" else f"up to {best.C * 64:g}"
    return f"The best C is the {side} one tried: try some {beyond} (--Cs)."


def _few_test_rows(seen: Evidence) -> str:
    interval = seen.test.accuracy
    if interval.high - interval.low < _WIDE:
        return ""
    return (
        f"The test has only {interval.n} rows, which leaves the accuracy uncertain by "
        f"{_percent(interval.high - interval.low)}: test on more rows before you rely on it."
    )


_RULES: dict[str, Callable[[Evidence], str]] = {
    "not_certified": _not_certified,
    "search_cut_short": _search_cut_short,
    "no_better_than_baseline": _no_better_than_baseline,
    "row_numbers": lambda seen: TABLE_RULES["row_numbers"](seen.profile),
    "identifiers": lambda seen: TABLE_RULES["identifiers"](seen.profile),
    "mostly_missing": lambda seen: TABLE_RULES["mostly_missing"](seen.profile),
    "overfit": _overfit,
    "too_simple": _too_simple,
    "unbalanced": _unbalanced,
    "rare_classes": lambda seen: TABLE_RULES["rare_classes"](seen.profile),
    "c_at_edge": _c_at_edge,
    "few_test_rows": _few_test_rows,
}


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
