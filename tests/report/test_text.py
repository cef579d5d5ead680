"""Text: columns line up, figures read as people write them."""

import math

import pytest

from netsim.report.text import columns, counted, listed, microseconds, number, percent, times


def test_columns_line_up() -> None:
    assert columns(["name", "us"], [["a", "1,000.00"], ["longer", "2.50"]]) == (
        "name          us\na       1,000.00\nlonger      2.50"
    )
    assert columns(["n", "word"], [["10", "a"]], words=(1,)) == " n  word\n10  a"


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (microseconds(5_544_110_000), "5,544.11"),
        (number(1234.5678, 1), "1,234.6"),
        (number(math.nan), "-"),
        (times(2.875), "2.88 x"),
        (times(math.nan), "-"),
        (percent(0.943), "94 %"),
        (percent(0.0123), "1.2 %"),
        (percent(0.0), "0 %"),
        (percent(1.0), "100 %"),
        (percent(0.0996), "10 %"),
        (percent(math.nan), "-"),
        (counted(1, "packet"), "1 packet"),
        (counted(2000, "packet"), "2,000 packets"),
    ],
)
def test_figures(shown: str, text: str) -> None:
    assert shown == text


def test_names_in_a_sentence() -> None:
    assert [listed(list("abc")[:count]) for count in range(4)] == ["", "a", "a and b", "a, b and c"]
