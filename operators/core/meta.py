"""How an operator asks a model: one prompt, one answer by a schema, at most one repair."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ...runtime.gateway import ChatRequest
from ...runtime.gateway.chat.ending import ONLY_THINKING, only_thinks
from ...runtime.gateway.stream_sink import unheard
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
"""Characters of an invalid answer that the repair prompt quotes."""

Answered = TypeVar("Answered")


def prompt(name: str, **values: Any) -> str:
    """Render one of the operators' prompt files."""
    return render(name, folder=_folders()[name], **values)


@functools.cache
def _folders() -> Mapping[str, Path]:
    return {path.stem: path.parent for path in OPERATORS.rglob("prompts/*.md")}


@dataclass(frozen=True, kw_only=True, slots=True)
class Question(Generic[Answered]):
    """A question of an operator to its model.

    Attributes:
        instructions: The instructions, which are trusted text.
        material: The untrusted texts to work on, each in its fence.
        read: Parses the text of an answer, or raises `InvalidAnswer`.
        parents: The names of the teams that the question is about.
        team: The team that the answer edits, if any.
        conversation: Earlier messages. They stay unchanged, and the question is appended to them.
        salvage: Parses what it can of an answer that is still invalid after the repair, or raises
            `InvalidAnswer`. None: such an answer is dropped.
        inputs: The values behind instructions and material, by name. A simulated model answers from
            these, so every prompt can be reworded.
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
    """The source of operators' answers: a model (`MetaModel`), or chance (`Chance`).

    An answer **must** be a value that `Question.read` returned, or a reported `RejectedProposal`.
    It **must not** depend on anything but the path, the question, and the model's own state.

    Attributes:
        ceiling: The most that children may ask for.
        tell: Receives the events `operator_answered`, `operator_repair` and `operator_dropped`.
        bounds: How much is read and written. None: the default of the subclass.
    """

    catalogue: Catalogue
    ceiling: CapabilityPolicy
    tell: Tell = unheard
    bounds: Bounds | None = None

    @property
    def limits(self) -> Bounds:
        """How much is read and written."""
        return self.bounds or Bounds()

    @abstractmethod
    async def ask(self, path: str, question: Question[Answered]) -> Answered | RejectedProposal:
        """Return the answer to a question.

        Raises:
            CoterieError: The model is unavailable.
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
        """Return a rejected proposal, and report it in the trace."""
        fields = {"reason": reason, "problems": list(problems), "parents": list(parents)}
        self.tell("operator_dropped", path=path, operator=operator, **fields)
        return RejectedProposal(
            operator=operator, reason=reason, problems=problems, parents=parents
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class MetaModel(OperatorModel):
    """The model that operators ask, with the limits of its answers.

    It also reports the events of `Calls.chat`, with the operator's name. Its default bounds follow
    the size of the model.

    Attributes:
        calls: Makes the calls: journaled, cached, bounded, and free of secrets.
        temperature: None: the endpoint's own.
        top_p: None: the setting of the host or the endpoint.
        effort: None: the setting of the host or the endpoint.
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
        """Return a copy for another model, with the bounds of that model's size."""
        return replace(self, model=model, bounds=None)

    async def ask(self, path: str, question: Question[Answered]) -> Answered | RejectedProposal:
        """Ask the model; if its answer is invalid, return the problems to it and ask once more.

        Raises:
            CallError: The model is unavailable.
            BudgetReached: The budget is used up.
            NotRecorded: A replay has no such answer.
            StorageError: The answer cannot be stored.
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
        """Return the messages of a question: a new conversation, or the next message of its own.

        Earlier messages stay unchanged to the letter, so an endpoint can reuse its prompt cache.
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
        """Return the instructions and the form of the answer.

        An embedded model gets no schema: it would take the schema for words of the task, and its
        decoding is constrained anyway.
        """
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
    """Parse an answer. An answer of nothing but thinking is invalid for every question."""
    if only_thinks(answer):
        raise InvalidAnswer(ONLY_THINKING)
    return question.read(answer.text)
