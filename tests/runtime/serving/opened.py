"""A team server in this process, and a client of it, over the scripted model."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from openai import AsyncOpenAI
from starlette.applications import Starlette

from coterie.pool import Pool, Trial
from coterie.pool.ledger.changes import Evaluated
from coterie.runtime import Caps, Setting
from coterie.runtime.doubles import ScriptedModel
from coterie.runtime.serving.account import Account, today
from coterie.runtime.serving.admission import RequestQueue
from coterie.runtime.serving.app import app_of
from coterie.runtime.serving.keys import Keys
from coterie.runtime.serving.server import TeamServer, serving
from coterie.runtime.serving.teams import Teams
from coterie.runtime.values.usage import Usage
from coterie.schema import Catalogue, Lineage, Model, load_team

ADDRESS = "http://127.0.0.1"
PAIR = """
name: pair
description: Solves riddles.
agents:
  worker: {prompt: "You are [worker]. Solve it."}
  judge: {prompt: "You are [judge]. Decide it."}
topology: {reports_to: {worker: [judge]}}
"""


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A server, its application, and clients of it."""

    server: TeamServer
    app: Starlette
    http: httpx.AsyncClient
    openai: AsyncOpenAI


def catalogue(model: ScriptedModel, **how: Any) -> Catalogue:
    """What the host offers: the scripted model for the alias `default`."""
    scripted = Model(alias="default", model="scripted", api_base=model.api_base, **how)
    return Catalogue.of_host(models={"default": scripted})


@asynccontextmanager
async def opened(
    here: Path,
    known: Catalogue,
    *sources: str,
    keys: Iterable[str] = (),
    usd: float | None = None,
    usd_per_day: float | None = None,
    at_once: int = 8,
    waiting: int = 300,
    clock: Any = today,
    allow_unpriced: bool = False,
    **guard: Any,
) -> AsyncGenerator[Opened]:
    """Serve teams during the body."""
    from openai import AsyncOpenAI  # takes long, and few tests want it

    teams = Teams.opened(sources or [pair(here)], known)
    account = Account(runs=here / "runs", per_day=Caps(usd=usd_per_day), clock=clock)
    setting = Setting(budget=Caps(usd=usd), allow_unpriced=allow_unpriced)
    admission = RequestQueue(at_once, waiting)
    with account:
        async with serving(teams, account, setting, admission, keys) as server:
            app = app_of(server, Keys(frozenset(keys)), **guard)
            transport = httpx.ASGITransport(app)
            key = next(iter(keys), "none")
            login = {"Authorization": f"Bearer {key}"}
            async with (
                app.router.lifespan_context(app),
                httpx.AsyncClient(
                    transport=transport, base_url=ADDRESS, headers=login, timeout=60
                ) as http,
            ):
                openai = AsyncOpenAI(
                    api_key=key, base_url=f"{ADDRESS}/v1", http_client=http, max_retries=0
                )
                yield Opened(server=server, app=app, http=http, openai=openai)


def pair(here: Path, text: str = PAIR) -> str:
    """Write the file of a team of two."""
    file = here / "pair.yaml"
    file.write_text(text, "utf-8")
    return str(file)


def evolved(here: Path) -> None:
    """Make the pool `town` of a team and its child, which scores better."""
    pool = Pool.init(here / "town")
    parent = pool.add(load_team(pair(here)), Lineage(operator="seed"), op="seed")
    better = load_team(pair(here, PAIR.replace("are [judge]", "are the better [judge]")))
    born = Lineage(operator="mutate", parents=(parent.name,))
    child = pool.add(better, born, op="child")
    for member, score in ((parent.name, 0.2), (child.name, 0.9)):
        for number in range(8):
            trial = Trial(task=f"t{number}", score=score, niche=None, usage=Usage(calls=2))
            pool.commit(Evaluated(member=member, trial=trial), op=f"{member}/{number}")
