"""How an operator asks: a prompt, an answer held to a schema, one repair, then no more."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ...runtime.gateway import ChatRequest
from ...runtime.messages.thoughts import ONLY_THINKING, only_thinks
from ...runtime.prompts import render
from ...schema.values.json_text import dumps
from .answers import InvalidAnswer
from .bounds import Bounds
from .proposal import RejectedProposal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...runtime.calls.calls import Calls
    from ...runtime.gateway import ChatAnswer, Message
    from ...runtime.gateway.stream_sink import Tell
    from ...runtime.values.budget import Budget
    from ...schema.host.catalogue import Catalogue
    from ...schema.host.models import Effort
    from ...schema.loading.ceiling import CapabilityPolicy
    from ...schema.team.team import Team

OPERATORS = Path(__file__).parents[1]
LONGEST_QUOTE = 4_000
"""Characters of a bad answer that are shown to its writer again."""

Answered = TypeVar("Answered")


def _untold(_event: str, /, **_fields: Any) -> None:
    pass


def prompt(name: str, **values: Any) -> str:
    """Fill in one of the operators' prompt files."""
    return render(name, folder=_folders()[name], **values)


@functools.cache
def _folders() -> Mapping[str, Path]:
    """Return where each prompt file is: every room has its own."""
    return {path.stem: path.parent for path in OPERATORS.rglob("prompts/*.md")}


@dataclass(frozen=True, kw_only=True, slots=True)
class Question(Generic[Answered]):
    """What an operator asks.

    Attributes:
        instructions: What is to be done; text of ours.
        material: What it is to be done with; texts of others, each in its fence.
        read: Makes something of the answer's text, or raises `InvalidAnswer`.
        parents: The names of the teams that it is about.
        team: The team that the answer edits, where it edits one.
        conversation: What was said before, where the question goes on with a conversation: then it
            is asked in the next message of that, unchanged.
        salvage: Makes what it can of an answer that is not right after the repair either, or raises
            `InvalidAnswer`. None: such an answer is of no use.
        inputs: The values that instructions and material were written from, by their names: what a
            simulated model answers by, so that every prompt can be reworded.
    """

    operator: str
    instructions: str
    material: str
    schema: Mapping[str, Any]
    read: Callable[[str], Answered]
    parents: tuple[str, ...] = ()
    team: Team | None = None
    conversation: tuple[Message, ...] = ()
    salvage: Callable[[str], Answered] | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, kw_only=True, slots=True)
class OperatorModel(ABC):
    """Who answers what operators ask: a model (`MetaModel`), or chance (`Chance`).

    An answer **must** be what `Question.read` made of a value, or a `RejectedProposal` that was
    reported; and it **must not** depend on anything but the path, the question, and what the
    model has.

    Attributes:
        ceiling: What children may ask for at most.
        tell: Told what happens: `operator_answered`, `operator_repair`, `operator_dropped`.
        bounds: How much is read and written. None: as much as suits who answers.
    """

    catalogue: Catalogue
    ceiling: CapabilityPolicy
    tell: Tell = _untold
    bounds: Bounds | None = None

    @property
    def limits(self) -> Bounds:
        """How much is read and written."""
        return self.bounds or Bounds()

    @abstractmethod
    async def ask(self, path: str, question: Question[Answered]) -> Answered | RejectedProposal:
        """Answer a question.

        Raises:
            CoterieError: Who answers cannot be had.
        """

    def drop(
        self,
        path: str,
        operator: str,
        reason: str,
        *,
        problems: tuple[str, ...] = (),
        parents: tuple[str, ...] = (),
    ) -> RejectedProposal:
        """Return up, and say so in the trace."""
        fields = {"reason": reason, "problems": list(problems), "parents": list(parents)}
        self.tell("operator_dropped", path=path, operator=operator, **fields)
        return RejectedProposal(
            operator=operator, reason=reason, problems=problems, parents=parents
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class MetaModel(OperatorModel):
    """The model that operators ask, and the limits of what may come of it.

    It also tells what `Calls.chat` tells, with the operator. Its bounds are by default those of the
    model's size.

    Attributes:
        calls: Makes the calls: journaled, cached, bounded, without secrets.
        temperature: None for the endpoint's own.
        top_p: None for what the host or the endpoint has.
        effort: None for what the host or the endpoint has.
    """

    calls: Calls
    model: str = "default"
    budget: Budget | None = None
    temperature: float | None = None
    top_p: float | None = None
    effort: Effort | None = None

    @property
    def limits(self) -> Bounds:
        """How much is read and written."""
        return self.bounds or Bounds.of(self.catalogue.models.get(self.model))

    def asking(self, model: str) -> MetaModel:
        """Return the same for another model, with the bounds of that one's size."""
        return replace(self, model=model, bounds=None)

    async def ask(self, path: str, question: Question[Answered]) -> Answered | RejectedProposal:
        """Ask, and where the answer is of no use hand back its problems and ask once more.

        Raises:
            CallError: The model cannot be had.
            BudgetReached: It may cost no more.
            NotRecorded: A replay has no such answer.
            StorageError: The answer cannot be kept.
        """
        messages = self._messages(question)
        first = await self._answer(f"{path}/call 1", messages, question)
        try:
            return self._read(path, question, first)
        except InvalidAnswer as unfit:
            problems = list(unfit.problems)
            self.tell("operator_repair", path=path, operator=question.operator, problems=problems)
        messages += [
            {"role": "assistant", "content": first.text[:LONGEST_QUOTE] or "(nothing)"},
            {"role": "user", "content": prompt("repair", problems=problems)},
        ]
        second = await self._answer(f"{path}/call 2", messages, question)
        lenient = replace(question, read=question.salvage or question.read)
        try:
            return self._read(path, lenient, second)
        except InvalidAnswer as unfit:
            return self.drop(
                path,
                question.operator,
                "the model gave no valid answer, also after one repair.",
                problems=unfit.problems,
                parents=question.parents,
            )

    def _messages(self, question: Question[Any]) -> list[Message]:
        """Begin a conversation with a question, or go on with the one that it belongs to.

        What was said before stays as it was, to the letter: an endpoint that has read it once need
        not read it again.
        """
        text = self._instructions(question)
        if question.conversation:
            content = f"{text}\n\n{question.material}"
            return [*question.conversation, {"role": "user", "content": content}]
        return [
            {"role": "system", "content": text},
            {"role": "user", "content": question.material},
        ]

    def _instructions(self, question: Question[Any]) -> str:
        """Add the form of the answer; a small model would take the schema for words of the task."""
        model = self.catalogue.models.get(self.model)
        is_held = model is not None and model.is_embedded
        schema = "" if is_held else dumps(question.schema, ensure_ascii=False)
        return f"{question.instructions}\n\n{prompt('answer', schema=schema)}"

    async def _answer(
        self, path: str, messages: list[Message], question: Question[Answered]
    ) -> ChatAnswer:
        request = ChatRequest(
            model=self.model,
            messages=tuple(messages),
            max_tokens=self.limits.answer_tokens,
            temperature=self.temperature,
            top_p=self.top_p,
            effort=self.effort,
            schema=question.schema,
            source=question,
        )
        tell = functools.partial(self.tell, operator=question.operator)
        return await self.calls.chat(path, request, tell, budget=self.budget, trim=True)

    def _read(self, path: str, question: Question[Answered], answer: ChatAnswer) -> Answered:
        try:
            read = _answered(question, answer)
        except InvalidAnswer as unfit:
            if answer.finish_reason != "length":
                raise
            cut = f"it was cut off at {self.limits.answer_tokens} tokens. Write less."
            raise InvalidAnswer(cut, *unfit.problems) from None
        self.tell("operator_answered", path=path, operator=question.operator, answer=answer.text)
        return read


def _answered(question: Question[Answered], answer: ChatAnswer) -> Answered:
    """Read an answer; one of thinking alone is none, whatever the question takes."""
    if only_thinks(answer):
        raise InvalidAnswer(ONLY_THINKING)
    return question.read(answer.text)
