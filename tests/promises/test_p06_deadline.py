"""P6: no call outlives its deadline, whatever the endpoint does."""

import asyncio
import gc
import json
import os
import socket
import subprocess
import sys
from collections.abc import Awaitable, Generator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from coterie.runtime.doubles import Fault, Reply, ScriptedModel
from coterie.runtime.gateway import CallError, Gateway
from coterie.runtime.values.budget import Budget, BudgetReached, Caps

from ..provider import model, request
from ..virtual_time import pass_time, run_held, until_a_timer_is_set, virtual_clock
from ..waiting import PATIENCE

DEADLINE = 0.5
"""Seconds."""
TURNS = 100
"""Turns of a loop in which a call that ends too early has ended."""
FAULTS: dict[str, Fault] = {
    "hangs": "hang",
    "drips a byte a second": "drip",
    "drips its headers": "slow_headers",
    "sends without end": "endless_body",
}


@contextmanager
def never_accepts() -> Generator[str]:
    """An address whose connections are made by the system, and never seen by anybody."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


@contextmanager
def drops_packets() -> Generator[str]:
    """An address that answers no attempt to connect, like that of a host behind a firewall."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):  # more than its queue holds
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


@contextmanager
def endpoint(fault: str) -> Generator[str]:
    """The address of an endpoint that has a fault."""
    if fault == "never accepts":
        with never_accepts() as address:
            yield address
    elif fault == "drops packets":
        with drops_packets() as address:
            yield address
    else:
        reply = Reply.fault(FAULTS[fault]).replace(interval=1.0)
        with ScriptedModel(reply) as scripted:
            yield scripted.api_base


EVERY_FAULT = [*FAULTS, "never accepts", "drops packets"]


def descriptors() -> int:
    """Count what this process holds open, where the system tells."""
    if sys.platform != "linux":
        return 0
    gc.collect()
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - the path object would open one more


def ending(error: BaseException) -> str | None:
    """Return how a call ended: the kind of its failure, or the cap that it reached."""
    if isinstance(error, BudgetReached):
        return error.cap
    return error.kind if isinstance(error, CallError) else None


async def failure_of(call: Awaitable[object]) -> str | None:
    """Return how a call ends that must fail."""
    with pytest.raises((CallError, BudgetReached)) as caught:
        await call
    return ending(caught.value)


async def ends_on_time(address: str, *, budget: Budget | None = None, **fields: Any) -> str | None:
    """Ask, and see the call end when its deadline has passed: not before, and no moment later.

    Time stands still but for these steps, so a call that needs any more of it hangs.
    """
    spec = model(api_base=address, **fields)
    async with Gateway({"default": spec}, clock=virtual_clock) as gateway:
        chat = gateway.chat(request(retries=0), budget=budget)
        call = asyncio.create_task(failure_of(chat))
        await until_a_timer_is_set(DEADLINE)
        pass_time(DEADLINE * 0.75)
        for _ in range(TURNS):
            await asyncio.sleep(0)
        assert not call.done() or call.result() == "malformed"
        pass_time(DEADLINE * 0.25)
        ended = await call
        assert asyncio.all_tasks() == {asyncio.current_task()}
    return ended


def is_too_large(fault: str, ended: str | None) -> bool:
    """Return whether a call failed before its deadline because of all that was sent."""
    return (fault, ended) == ("sends without end", "malformed")


@pytest.mark.parametrize("fault", EVERY_FAULT)
def test_p6_a_call_ends_at_its_deadline(fault: str) -> None:
    before = descriptors()
    with endpoint(fault) as address:
        ended = run_held(ends_on_time(address, timeout=DEADLINE))
    assert ended == "timeout" or is_too_large(fault, ended)
    assert descriptors() == before


@pytest.mark.parametrize("fault", EVERY_FAULT)
def test_p6_a_call_ends_when_the_time_of_its_budget_is_up(fault: str) -> None:
    async def scene() -> None:
        budget = Budget(Caps(seconds=DEADLINE), clock=virtual_clock)
        ended = await ends_on_time(address, timeout=60, budget=budget)
        assert ended == "seconds" or is_too_large(fault, ended)
        assert budget.spent.uncertain_calls == 1

    with endpoint(fault) as address:
        run_held(scene())


def test_p6_many_calls_at_once_all_end_at_their_deadlines(nightly: bool) -> None:
    calls = 300 if nightly else 30

    async def scene() -> None:
        spec = model(api_base=scripted.api_base, timeout=DEADLINE)
        async with Gateway({"default": spec}, clock=virtual_clock) as gateway:
            asked = [gateway.chat(request(retries=0)) for _ in range(calls)]
            failing = [asyncio.create_task(failure_of(chat)) for chat in asked]
            await asyncio.to_thread(
                scripted.wait_for, lambda arrived: len(arrived) == calls, timeout=PATIENCE
            )
            ended = {call.result() for call in failing if call.done()}
            assert ended <= {"malformed"}
            pass_time(DEADLINE)
            ended = {await call for call in failing}
            assert {"timeout"} <= ended <= {"timeout", "malformed"}

    script = [Reply.fault(name).replace(interval=1.0) for name in FAULTS.values()] * calls
    with ScriptedModel(script) as scripted:
        run_held(scene())
        scripted.wait_for(lambda arrived: all(call.abandoned for call in arrived), timeout=PATIENCE)
        assert len(scripted.calls) == calls


THROUGH_LITELLM = """
import asyncio, json, os, sys
from coterie.runtime.gateway import CallError, ChatRequest, Gateway
from coterie.schema import Model

deadline, addresses = float(sys.argv[1]), sys.argv[2:]
request = ChatRequest(model="m", messages=[{"role": "user", "content": "hi"}], retries=0)

async def ended(address):
    os.environ["OVHCLOUD_API_BASE"] = address
    models = {"m": Model(alias="m", model="ovhcloud/m", key_env="KEY", timeout=deadline)}
    async with Gateway(models, environment={"KEY": "sk-x"}) as gateway:
        await gateway.prepare(["m"])
        try:
            await gateway.chat(request)
        except CallError as error:
            kind = error.kind
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    return {"kind": kind, "tasks": [str(task) for task in left]}

def descriptors():
    return len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0

said = []
for address in addresses:
    before = descriptors()
    said.append(asyncio.run(ended(address)) | {"leaked": descriptors() - before})
print(json.dumps(said[1:]))
"""


@pytest.mark.nightly
def test_p6_a_call_through_litellm_ends_at_its_deadline_too() -> None:
    with ExitStack() as stack:
        addresses = [stack.enter_context(endpoint(fault)) for fault in EVERY_FAULT]
        # The first is asked twice: what litellm opens on its first call, it keeps.
        command = [sys.executable, "-c", THROUGH_LITELLM, str(DEADLINE), addresses[0], *addresses]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    fields = dict(zip(EVERY_FAULT, json.loads(done.stdout.splitlines()[-1]), strict=True))
    for fault, item in fields.items():
        assert item["kind"] == "timeout", fault
        assert item["tasks"] == [], fault
        assert item["leaked"] <= 0, fault
