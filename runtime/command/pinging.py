"""`mas doctor --ping`: ask each endpoint for a few tokens and report the result."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from ...schema.values.errors import CoterieError
from ...schema.values.terminal import counted
from ..gateway import ChatRequest, Gateway
from ..values.budget import Budget, Caps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...schema.host.models import Model

SECONDS = 60.0
"""How long a model may take, retries included."""
TOKENS = 16
"""The smallest limit on output that every API accepts: the Responses API takes no smaller one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ping:
    """The result of calling a model.

    Attributes:
        detail: The model that answered, how soon and at what cost; or the reason why none did.
    """

    alias: str
    model: str
    answered: bool
    detail: str

    def __str__(self) -> str:
        return f"{self.alias} = {self.model}: {self.detail}"

    def value(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return asdict(self)


def ping(models: Mapping[str, Model]) -> Sequence[Ping]:
    """Ask every model that has an endpoint for a few tokens, all at once.

    No fallback answers in a model's place. An embedded model or an inbox has no endpoint.
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
        return Ping(alias=model.alias, model=model.model, answered=False, detail=str(error))
    usage = answer.usage
    text = (
        f"{answer.model or 'it'} answered in {answer.seconds:.2f} s,"
        f" {counted(usage.tokens, 'token')}, {usage.cost}"
    )
    return Ping(alias=model.alias, model=model.model, answered=True, detail=text)
