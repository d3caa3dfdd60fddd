"""One provider's double, and the gateway that calls it as a user's models would."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from coterie.runtime.gateway import ChatRequest, Gateway
from coterie.runtime.values.usage import Usage
from coterie.schema.host.models import Model

from ..doubles import KEY, ProviderDouble

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence

    from coterie.runtime.gateway import ChatAnswer
    from coterie.runtime.gateway.chat.fallback import ParameterChange

    from ..doubles import Entry, Provider, Refusal, Said

ALIAS = "asked"
QUESTION = {"role": "user", "content": "What is six times seven?"}
PLAIN = ChatRequest(model=ALIAS, messages=[QUESTION], max_tokens=256, retries=0)
UNPRICED = Model(alias=ALIAS, model="", timeout=10)
PRICED = replace(UNPRICED, usd_per_mtok_input=2.0, usd_per_mtok_cached=0.5, usd_per_mtok_output=8.0)
"""At the prices of the doubles' own bills."""


@dataclass(kw_only=True)
class Trial:
    """A double with a gateway that reaches it.

    Attributes:
        provider: Who is called.
        double: Its server.
        gateway: Who calls.
        spent: What the calls that were answered consumed.
        adapted: What models turned out to refuse, as the gateway told it.
    """

    provider: Provider
    double: ProviderDouble
    gateway: Gateway
    spent: Usage = field(default_factory=Usage)
    adapted: list[ParameterChange] = field(default_factory=list["ParameterChange"])

    @property
    def books(self) -> Sequence[Entry]:
        """What the double was asked and answered."""
        return self.double.books

    async def ask(self, **fields: Any) -> ChatAnswer:
        """Make a call, without retries unless they are asked for.

        Raises:
            CallError: No usable answer.
            InputError: The model cannot be called.
        """
        request = replace(PLAIN, **fields)
        answer = await self.gateway.chat(request, on_adapted=self.adapted.append)
        self.spent += answer.usage
        return answer


@contextlib.asynccontextmanager
async def trial(
    provider: Provider,
    script: Iterable[Said | Refusal],
    *,
    key: str = KEY,
    choice: str | None = None,
    stream: bool = True,
) -> AsyncGenerator[Trial]:
    """Serve a provider's double, and reach it as a model string and variables say.

    Args:
        provider: Who to be.
        script: What the requests that are accepted come to.
        key: What the variable with the key holds.
        choice: The model string; default: the provider's own.
        stream: Whether answers come in pieces.
    """
    with ProviderDouble(provider, script) as double:
        model, environment = reached(provider, double.origin, key=key, choice=choice)
        model = replace(model, stream=stream)
        async with Gateway({ALIAS: model}, environment=environment, seed=0) as gateway:
            yield Trial(provider=provider, double=double, gateway=gateway)


def reached(
    provider: Provider, origin: str, *, key: str = KEY, choice: str | None = None
) -> tuple[Model, Mapping[str, str]]:
    """Return the model of a provider's double, and the variables by which it is reached.

    Args:
        provider: Who to be.
        origin: Where it listens.
        key: What the variable with the key holds.
        choice: The model string; default: the provider's own.
    """
    environment = {
        name: value.format(origin=origin, key=key) for name, value in provider.variables.items()
    }
    model = UNPRICED if provider.reports_cost else PRICED
    return replace(model, model=choice or provider.choice), environment


def check_without_key(provider: Provider) -> None:
    """Check a provider's model where no variable is set, which sends nothing.

    Raises:
        InputError: A key is missed.
    """
    Gateway({ALIAS: Model(alias=ALIAS, model=provider.choice)}, environment={}).check([ALIAS])
