"""A commit says what changed, why, and what it gains, for a reviewer who reads one line."""

from dataclasses import replace

import pytest

from coterie.operators.report.gain import Gain, gain_message

GAIN = Gain(
    original=0.18, new=0.67, gain=0.483, interval=(0.33, 0.61), tasks=60, calls=1580, usd=0.84
)
WORDS = "Write dates as ISO, such as 2026-11-26, and nothing else."
EDITS = [f"prompt of solver: -1 line, +1 line -Write dates. +{WORDS}"]


def test_the_message_says_what_changed_why_and_what_it_gains() -> None:
    reasons = ["Dates are written as ISO.", "The clerk\nis \x1b[31mtold to check."]
    assert gain_message("front_desk", EDITS, reasons[:1], GAIN) == (
        "front_desk: Dates are written as ISO (+0.48 [0.33, 0.61] on 60 held-back tasks)\n"
        "\n"
        "prompt of solver: -1 line, +1 line -Write dates. +Write dates as ISO,\n"
        "such as 2026-11-26, and nothing else.\n"
        "Why: Dates are written as ISO.\n"
        "Original 0.18, now 0.67; 1,580 calls, $0.84."
    )
    two = gain_message("front_desk", EDITS, reasons, GAIN)
    assert two.startswith("front_desk: Dates are written as ISO, and 1 more (+0.48")
    assert "\nWhy: The clerk is told to check.\n" in two


@pytest.mark.parametrize(
    ("team", "reason", "words"),
    [
        ("desk", "Dates " + "are ISO " * 9, "Dates are ISO are ISO are ISO are ISO are ISO are…"),
        ("desk", "日" * 60, "日" * 50 + "…"),
        ("d" * 64, "Dates are written as ISO dates.", "Dates are written as…"),
    ],
)
def test_a_long_hypothesis_is_cut_in_the_subject(team: str, reason: str, words: str) -> None:
    subject = gain_message(team, EDITS, [reason], GAIN).split("\n")[0]
    assert subject == f"{team}: {words} (+0.48 [0.33, 0.61] on 60 held-back tasks)"


@pytest.mark.parametrize(
    ("usd", "price"), [(None, "price unknown"), (0, "free"), (0.0042, "$0.0042"), (12, "$12.00")]
)
def test_a_price_that_nobody_knows_is_not_zero(usd: float | None, price: str) -> None:
    text = gain_message("desk", [], [], replace(GAIN, usd=usd, calls=1, tasks=1))
    assert text.startswith("desk: another team (+0.48 [0.33, 0.61] on 1 held-back task)")
    assert text.endswith(f"; 1 call, {price}.")
