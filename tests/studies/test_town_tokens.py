"""What a town costs: what the study counts, on two tasks."""

from studies.town_tokens import TOWNS, evolved, model, tokens


def test_a_vote_of_five_costs_five_times_and_has_no_operators() -> None:
    reports = [
        evolved(TOWNS[name], tasks=1, answering=model(length=1000, shown=50, accuracy=1.0))
        for name in ("a single agent", "self-consistency, k = 5")
    ]
    single, five = map(tokens, reports)
    assert 1000 < single < 1500
    assert 4.9 < five / single < 5.2
    assert tokens(reports[1], "operator", "judge") == 0
