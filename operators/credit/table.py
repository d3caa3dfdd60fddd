"""The report of credit: each player's worth, and the cost of computing it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...runtime.values.usage import Usage
from ...schema.values.terminal import aligned, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..core.utterances import Turn
    from .counterfactual import Worth
    from .schemes import Credit

TURN = ("agent", "round")


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """The cost of coalitions' runs.

    Attributes:
        needed: The cost of all answers behind the runs, whoever paid for them.
        paid: The cost of those answers that the factual run had not paid; each counts once.
    """

    needed: Usage
    paid: Usage

    @classmethod
    def of(cls, worths: Iterable[Worth]) -> Cost:
        """Return the total cost of coalitions; shared questions are paid once."""
        every = [*worths]
        paid = {question: cost for worth in every for question, cost in worth.paid.items()}
        return cls(
            needed=sum((worth.needed for worth in every), Usage()),
            paid=sum(paid.values(), Usage()),
        )

    @property
    def saved(self) -> Usage:
        """The cost of the answers that came from journals."""
        return self.needed - self.paid

    def value(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "calls": {"asked": self.paid.calls, "answered": self.saved.calls},
            "tokens": {"paid": self.paid.tokens, "saved": self.saved.tokens},
            "usd": {"paid": self.paid.usd, "saved": self.saved.usd},
            "unpriced_calls": self.paid.unpriced_calls,
        }

    def lines(self) -> Iterator[str]:
        """Yield it as lines for people."""
        yield f"calls: {self.paid.calls} asked, {self.saved.calls} answered from journals"
        yield f"tokens: {self.paid.tokens} paid, {self.saved.tokens} saved"
        paid, saved = self.paid.cost, self.saved.cost
        yield f"cost: {paid}" if paid == saved else f"cost: {paid} paid, {saved} saved"


NO_COST = Cost(needed=Usage(), paid=Usage())


@dataclass(frozen=True, kw_only=True, slots=True)
class CreditTable:
    """The worth of players.

    Attributes:
        scheme: The method: `difference`, `shapley`, `naive`.
        credits: The worth of each player, which is an agent or a turn.
        score: The score of the run itself; None if it was not computed.
        nobody: The score of the run without any of the players; None if it was not computed.
        costs: The cost of the run without each player, if each player has one such run.
        runs: The number of runs, including the factual one.
        others: Other usage by purpose: judging, failed calls.
    """

    team: str
    task: str
    scheme: str
    credits: Mapping[Any, Credit]
    score: float | None = None
    nobody: float | None = None
    costs: Mapping[Any, Cost] = field(default_factory=dict[Any, Cost])
    cost: Cost = NO_COST
    runs: int = 0
    others: Mapping[str, Usage] = field(default_factory=dict[str, Usage])

    def value(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        head = {"team": self.team, "task": self.task, "scheme": self.scheme}
        return {
            **head,
            "score": self.score,
            "score_without_all": self.nobody,
            "players": [self._value(player) for player in self.credits],
            "runs": self.runs,
            **self.cost.value(),
            "others": {name: usage.value() for name, usage in self.others.items()},
        }

    def _value(self, player: str | Turn) -> dict[str, Any]:
        credit = self.credits[player]
        fields: dict[str, Any] = dict(zip(TURN, self._who(player), strict=False))
        fields["worth"] = credit.worth
        if credit.interval is not None:
            fields |= {"error": credit.error, "interval": [*credit.interval]}
        return {**fields, **(self.costs[player].value() if player in self.costs else {})}

    def text(self) -> str:
        """Return it as lines for people."""
        rows = [*self._rows()]
        lines = aligned(rows, "<" + ">" * (len(rows[0]) - 1))
        return "\n".join([self._head(), *lines, *self._end()])

    def _head(self) -> str:
        texts = [f"{self.team} on {self.task}: {self.scheme}"]
        texts += [] if self.score is None else [f"score {self.score:.3g}"]
        texts += [] if self.nobody is None else [f"without all of these {self.nobody:.3g}"]
        return ", ".join(texts)

    def _rows(self) -> Iterator[Sequence[str]]:
        turns = ["round"] if any(not isinstance(credit, str) for credit in self.credits) else []
        errors = (
            ["±", "95 % interval"]
            if any(credit.interval for credit in self.credits.values())
            else []
        )
        costs = ["calls", "answered", "asked"] if self.costs else []
        yield ["agent", *turns, "worth", *errors, *costs]
        for player in self.credits:
            who = map(str, self._who(player))
            yield [*who, *_worth(self.credits[player]), *self._cost(player)]

    def _who(self, player: str | Turn) -> tuple[str | int, ...]:
        return (player,) if isinstance(player, str) else player

    def _cost(self, player: str | Turn) -> Iterator[str]:
        if player in self.costs:
            cost = self.costs[player]
            yield from (str(usage.calls) for usage in (cost.needed, cost.saved, cost.paid))

    def _end(self) -> Iterator[str]:
        if self.runs:
            yield f"{counted(self.runs, 'run')}, the run itself among them"
            yield from self.cost.lines()
        for name, usage in self.others.items():
            calls, tokens = counted(usage.calls, "call"), counted(usage.tokens, "token")
            yield f"{name}: {calls}, {tokens}, {usage.cost}"


def _worth(credit: Credit) -> Iterator[str]:
    yield f"{credit.worth:+.3f}"
    if credit.interval is not None:
        low, high = credit.interval
        yield f"{credit.error:.3f}"
        yield f"{low:+.3f} to {high:+.3f}"
