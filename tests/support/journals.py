"""Entries of journals, as runs write them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any

from coterie.runtime.agents.outcomes import AgentOutcome
from coterie.runtime.gateway import Usage
from coterie.runtime.runners import AgentResult
from coterie.schema.values.codec import to_value

SPENT = Usage(calls=1, prompt_tokens=9, completion_tokens=3)
"""What a call or an agent takes unless a test says otherwise."""


def answered(text: str, **fields: Any) -> Mapping[str, Any]:
    """Return the entry of a model's answer."""
    call = {"tool_calls": [], "finish_reason": "stop", "model": "m", "alias": "m"}
    return {"text": text, "usage": SPENT.value(), "seconds": 0.1, "attempts": 1, **call, **fields}


def ended(usage: Usage = SPENT) -> Mapping[str, Any]:
    """Return the entry of an agent that is done."""
    done = AgentOutcome(status="done", result=AgentResult(content="c"), usage=usage, attempts=1)
    return to_value(done)


def put_all(*puts: Coroutine[Any, Any, None]) -> None:
    """Write entries one after the other."""

    async def in_order() -> None:
        for put in puts:
            await put

    asyncio.run(in_order())
