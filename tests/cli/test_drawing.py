"""Lines of characters that stand for numbers."""

from __future__ import annotations

from hedgerow._page.drawing import Axis, aligned, bar, marks_for

MARKS = marks_for(is_ascii=True)


def test_a_whisker_has_its_ends_and_its_point_where_the_numbers_are() -> None:
    axis = Axis(0.0, 1.0, 11)
    assert axis.whisker(MARKS, 0.2, 0.5, 1.0) == "  |--o----|"
    assert axis.whisker(MARKS, 0.0, 0.0, 0.3) == "o--|"


def test_zero_is_marked_inside_and_outside_of_an_interval() -> None:
    axis = Axis(-0.5, 0.5, 11)
    assert axis.whisker(MARKS, -0.4, 0.2, 0.4, zero=0.0) == " |---:-o-|"
    assert axis.whisker(MARKS, 0.2, 0.3, 0.5, zero=0.0) == "     : |o-|"


def test_an_axis_without_length_puts_everything_at_its_start() -> None:
    assert Axis(1.0, 1.0, 9).whisker(MARKS, 1.0, 1.0, 1.0) == "o"
    assert Axis(1.0, 1.0, 9).ends(str) == "1.0"


def test_the_ends_of_an_axis_stand_at_its_ends() -> None:
    assert Axis(0.5, 1.0, 12).ends(str) == "0.5      1.0"


def test_bars_grow_with_the_number_and_tell_its_sign() -> None:
    assert [bar(MARKS, share, 4) for share in (1.0, 0.5, 0.0, -0.5)] == ["####", "##", "#", "=="]


def test_cells_are_aligned_the_first_to_the_left() -> None:
    assert aligned([("a", "10", "x"), ("bcd", "2", "yz")]) == ["a    10   x", "bcd   2  yz"]
