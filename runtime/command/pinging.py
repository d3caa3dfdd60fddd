"""`mas doctor --ping`: each endpoint is asked for a few tokens, and what came is told."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from ...schema.values.errors import CoterieError
from ..gateway import ChatRequest, Gateway
from ..values.budget import Budget, Caps
from ..values.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...schema.host.models import Model

SECONDS = 60.0
"""How long a model may take, retries included."""
TOKENS = 16
"""The least that every API lets a model write: the Responses API takes no smaller number."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ping:
    """What came of asking a model.

    Attributes:
        said: As who, how soon and at what cost; or why it did not.
    """

    alias: str
    model: str
    answered: bool
    said: str

    def __str__(self) -> str:
        return f"{self.alias} = {self.model}: {self.said}"

    def value(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return asdict(self)


def ping(models: Mapping[str, Model]) -> Sequence[Ping]:
    """Ask every model that has an endpoint, all at once, for a few tokens.

    A fallback answers for nobody; neither an embedded model nor an inbox has an endpoint.
    """
    alone = {
        alias: replace(model, fallback=())
        for alias, model in sorted(models.items())
        if not (model.is_embedded or model.is_inbox)
    }

    async def all_at_once() -> list[Ping]:
        async with Gateway(alone) as gateway:
            return await asyncio.gather(*(_answer_of(gateway, model) for model in alone.values()))

    return asyncio.run(all_at_once())


async def _answer_of(gateway: Gateway, model: Model) -> Ping:
    request = ChatRequest(
        model=model.alias,
        messages=({"role": "user", "content": "Say yes."},),
        max_tokens=TOKENS + (model.thinking_tokens or 0),
    )
    try:
        answer = await gateway.chat(request, budget=Budget(Caps(seconds=SECONDS)))
    except CoterieError as error:
        return Ping(alias=model.alias, model=model.model, answered=False, said=str(error))
    usage = answer.usage
    text = (
        f"{answer.model or 'it'} answered in {answer.seconds:.2f} s,"
        f" {counted(usage.tokens, 'token')}, {usage.cost}"
    )
    return Ping(alias=model.alias, model=model.model, answered=True, said=text)
