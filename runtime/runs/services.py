"""The host's services for runs: models, tools and jails, opened once for any number of runs."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from ...schema.values.errors import InputError
from ...schema.values.secrets import secrets_of
from ...schema.values.terminal import counted
from ..gateway import Gateway
from ..jail.jails import Jails
from ..tools.approval import Approvals
from ..tools.toolbox import Toolbox
from ..values.budget import Caps

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
    from pathlib import Path

    from ...schema.host.catalogue import Catalogue
    from ...schema.team.task import Task
    from ..agents.outcomes import Run
    from ..calls.cache import Cache
    from ..calls.calls import Calls
    from ..engine.artifacts import Keep
    from ..engine.engine import Context
    from ..gateway.inbox_client import Responder
    from ..gateway.sharing import Shared
    from ..jail import JailPlace
    from ..messages.recall import Recaller
    from ..plan.plan import Plan
    from ..record.journal import Journal
    from ..record.trace import Trace
    from ..scrubbing.scrubber import Scrubber
    from ..tools.approval import Approver
    from ..values.budget import Budget


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """The settings of runs, apart from their teams and tasks.

    Attributes:
        seed: Makes sampling repeatable if the endpoint allows it.
        allow_unpriced: Under a USD cap, also call models without a known price.
        cache: A folder of answers that runs share.
        unsafe_local: Run agents' code without a jail.
        on: The cluster whose workers run that code, in the form of `On.parse`; None to run it on
            this machine.
        pool: The folder of the pool that agents recall from.
        embedder: The name of the embedder that finds similar tasks there; None for any installed
            one.
        batch: Call models through their providers' batch APIs.
    """

    seed: int | None = None
    budget: Caps = field(default_factory=Caps)
    agent_budget: Caps = field(default_factory=Caps)
    allow_unpriced: bool = False
    cache: Path | None = None
    unsafe_local: bool = False
    on: str | None = None
    pool: Path | None = None
    embedder: str | None = None
    batch: bool = False

    def __post_init__(self) -> None:
        """Refuse a contradictory setting.

        Raises:
            InputError: It asks to run code without a jail on other machines.
        """
        if self.on is not None and self.unsafe_local:
            raise InputError(
                f"--on {self.on} and --unsafe-local: on a cluster, code of agents runs in jails"
                " only. Leave one of them out."
            )

    @property
    def must_be_priced(self) -> bool:
        """Whether every model must have a price."""
        has_cap = self.budget.usd is not None or self.agent_budget.usd is not None
        return has_cap and not self.allow_unpriced


@dataclass(frozen=True, kw_only=True, slots=True)
class Services:
    """Models, tools and jails, in use. `open_services` creates them.

    For another memory than the setting's, use `dataclasses.replace(services, recaller=…)`.
    """

    setting: Setting
    gateway: Gateway
    toolbox: Toolbox
    jails: Jails
    cache: Cache | None
    recaller: Recaller | None = None

    def lacks(self, plan: Plan, *, offline: bool = False) -> list[str]:
        """Return the requirements of a plan that are missing here, each once; start nothing.

        Each is a jail, a program, a package, a variable with a key, or a price.

        Args:
            offline: Whether it is a replay, which calls no model.
        """
        priced = self.setting.must_be_priced
        checks: list[Callable[[], None]] = []
        if plan.needs_jail and not self.jails.elsewhere:
            checks.append(self.jails.check)
        checks += [partial(self.toolbox.check, name) for name in sorted(plan.tools)]
        if not offline:
            aliases = sorted(plan.aliases)
            checks += [partial(self.gateway.check, [alias], priced=priced) for alias in aliases]
        problems = dict.fromkeys(plan.lacks())
        for check in checks:
            try:
                check()
            except InputError as error:
                problems[str(error)] = None
        return [*problems]

    async def prepare(self, plan: Plan, *, offline: bool = False) -> None:
        """Check that a plan can run, and start what it needs.

        Raises:
            InputError: A key, a price, a tool server, a jail or a program is missing. Nothing was
                spent.
            ModelError: The embedded model's server did not start.
        """
        if plan.needs_jail and self.jails.elsewhere:
            # If all workers are lost, it waits for another one.
            await asyncio.to_thread(self.jails.check)
        if lacking := self.lacks(plan, offline=offline):
            raise InputError("\n".join(lacking))
        if not offline:
            self.toolbox.approvals.refuse_unasked(plan.tools)
            await self.gateway.prepare(plan.aliases, priced=self.setting.must_be_priced)
        await self.toolbox.prepare(plan.tools)

    def scrubber(self, environment: Mapping[str, str], also: Iterable[str] = ()) -> Scrubber:
        """Return the scrubber that removes the host's secrets, and others, from all output."""
        from ..scrubbing.scrubber import Scrubber

        secrets = self.gateway.secrets() | self.toolbox.secrets() | secrets_of(environment)
        return Scrubber(secrets.union(also))

    @asynccontextmanager
    async def collecting(
        self, journal: Journal, say: Callable[[str], None]
    ) -> AsyncGenerator[None]:
        """Make calls in batches within the block, if the setting says so.

        Raises:
            InputError: Batches hold uncollected answers that would be paid for again.
        """
        if self.setting.batch:
            from ..batch import collecting

            async with collecting(self.gateway, journal, say):
                yield
            return
        if waiting := journal.waiting_in_batches:
            raise InputError(
                f"{journal.folder}: {counted(waiting, 'request')} of this run may still be in a"
                " batch. Add --batch to collect the answers; otherwise, you would pay for them"
                " twice."
            )
        yield

    def calls(self, *, journal: Journal | None = None, scrubber: Scrubber | None = None) -> Calls:
        """Return the object that makes model calls, for a run or for an operator."""
        from ..calls.calls import Calls

        return Calls(
            gateway=self.gateway,
            journal=journal,
            cache=self.cache,
            seed=self.setting.seed,
            are_batched=self.setting.batch,
            **({"scrub": scrubber.without_secrets} if scrubber else {}),
        )

    async def execute(
        self,
        plan: Plan,
        task: Task,
        *,
        journal: Journal | None = None,
        scrubber: Scrubber | None = None,
        trace: Trace | None = None,
        budget: Budget | None = None,
        path: str = "",
        keep: Keep | None = None,
    ) -> Run:
        """Execute a whole run of a prepared plan, including its score; see `perform`.

        Raises:
            StorageError: The record can no longer be written.
        """
        from .whole import perform

        context = self.context(
            journal=journal, scrubber=scrubber, trace=trace, budget=budget, keep=keep
        )
        return await perform(plan, task, context, path=path)

    def context(
        self,
        *,
        journal: Journal | None = None,
        scrubber: Scrubber | None = None,
        trace: Trace | None = None,
        budget: Budget | None = None,
        dialogue: int = 0,
        keep: Keep | None = None,
    ) -> Context:
        """Return the context for running prepared plans here: whole, by their passes, or one pass.

        Args:
            budget: What everything together may cost.
            dialogue: The most characters to keep of each agent's conversation.
            keep: Keeps the files that agents write; None to discard them.
        """
        from ..engine.engine import Context
        from ..record.trace import Trace

        return Context(
            calls=self.calls(journal=journal, scrubber=scrubber),
            jails=self.jails,
            toolbox=self.toolbox,
            trace=trace or Trace(),
            budget=budget,
            agent_caps=self.setting.agent_budget if self.setting.agent_budget.value() else None,
            dialogue=dialogue,
            recaller=self.recaller,
            keep=keep,
        )


@asynccontextmanager
async def open_services(
    catalogue: Catalogue,
    setting: Setting,
    *,
    approver: Approver | None = None,
    responder: Responder | None = None,
    connected: bool = True,
    shared: Shared | None = None,
    lazy: bool = False,
) -> AsyncGenerator[Services]:
    """Open the services for runs; leaving the block closes connections and ends servers.

    Args:
        approver: Asks a person before tool calls that need approval by tools.yaml. None: a team
            with such tools is refused.
        responder: Answers questions of Person agents here; None to accept answer files only.
        connected: Whether to connect to the setting's cluster. Without it, no code can run there,
            but everything else can be prepared.
        shared: State that the models of several services share, such as bounds on concurrent calls.

    Raises:
        InputError: The cache cannot be opened, there is no pool, or the cluster does not answer.
    """
    recaller = None
    if setting.pool is not None:
        from ..messages.recall import open_recall

        recaller = open_recall(setting.pool, catalogue.models, setting.embedder)
    approvals = Approvals(catalogue.permissions, approver)
    toolbox = Toolbox(catalogue.servers, catalogue.python_tools, approvals)
    async with AsyncExitStack() as stack:
        yield Services(
            setting=setting,
            gateway=await stack.enter_async_context(
                Gateway(
                    catalogue.models,
                    seed=setting.seed,
                    shared=shared,
                    responder=responder,
                    batched=setting.batch,
                    lazy=lazy,
                )
            ),
            toolbox=await stack.enter_async_context(toolbox),
            jails=await _jails(setting, stack, connected=connected),
            cache=_cache(setting.cache, stack) if setting.cache else None,
            recaller=recaller,
        )


def _cache(folder: Path, stack: AsyncExitStack) -> Cache:
    from ..calls.cache import Cache

    return stack.enter_context(Cache.open(folder))


async def _jails(setting: Setting, stack: AsyncExitStack, *, connected: bool) -> Jails:
    """Return the jails of this machine, or of a cluster."""
    place: JailPlace | None = None
    if setting.on is not None:
        from ..cluster.on import On
        from ..cluster.opening import Unopened, open_workers

        on = On.parse(setting.on)
        place = Unopened(on)
        await asyncio.to_thread(place.check)
        if connected:
            place = await open_workers(on)
        stack.push_async_callback(asyncio.to_thread, place.close)
    return stack.enter_context(closing(Jails(unsafe=setting.unsafe_local, place=place)))
