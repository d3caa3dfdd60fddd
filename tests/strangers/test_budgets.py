"""Caps over any number of hangs, cuts, kills and resumes: what the server saw is within."""

import asyncio
import json
import shutil
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from coterie.runtime import Budget, Caps, Plan, RunFolder, Setting, compile, open_services
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.doubles.script import Request
from coterie.runtime.runs.record import RunRecord
from coterie.runtime.scrubbing.scrubber import Scrubber
from coterie.runtime.values.usage import Usage
from coterie.schema import Catalogue, Model, Task, load_team

from ..waiting import PATIENCE

TEAM = """\
name: wide
agents:
  one: {prompt: "You are [one].", max_tokens: 100}
  two: {prompt: "You are [two].", max_tokens: 100}
  three: {prompt: "You are [three].", max_tokens: 100}
  last: {prompt: "You are [last].", max_tokens: 100}
topology: {reports_to: {one: [two], two: [last], three: [last]}}
execution: {max_retries: 1}
"""
USD_PER_MTOK = 100.0
SEQUENCES = {"nightly": 2_000, "change": 25}
WIDEST = 2
"""Calls in flight beside the one that hangs."""
ANSWER = "It is seven, as far as anybody can tell."


@dataclass(kw_only=True)
class Provider:
    """An endpoint that answers, cuts answers off, or hangs, as chance has it; it keeps books."""

    chance: Random
    hung: threading.Event = field(default_factory=threading.Event)
    seen: Counter[str] = field(default_factory=Counter[str])
    tokens: int = 0
    is_sound: bool = False
    always: str = ""

    def __call__(self, request: Request) -> Reply:
        kinds, weights = ("answer", "cut", "hang"), (6, 1, 3)
        kind = "answer" if self.is_sound else self.chance.choices(kinds, weights)[0]
        kind = self.always or kind
        self.seen[kind] += 1
        read = sum(len(str(message["content"])) for message in request["messages"])
        self.tokens += read // 4 + len(ANSWER) // 4
        match kind:
            case "cut":
                return Reply.fault("close_after_headers")
            case "hang":
                self.hung.set()
                return Reply.fault("hang")
            case _:
                return Reply(text=ANSWER)

    @property
    def usd(self) -> float:
        return self.tokens * USD_PER_MTOK / 1e6


@dataclass(kw_only=True)
class Lifetime:
    """One run, and what happens to it until it ends."""

    folder: Path
    provider: Provider
    caps: Caps
    chance: Random
    plan: Plan
    catalogue: Catalogue
    number: int = 0
    broken_off: int = 0
    endings: Sequence[str] = ("kill", "interrupt")
    took: float = 0.0
    """Seconds that pass before a call that hangs is broken off, as its journal has it."""

    async def to_the_end(self) -> Usage:
        """Make the run, break it off and go on with it, until it is over; give what it reports."""
        runs = self.folder / "runs"
        scrub = Scrubber(frozenset())
        with RunRecord.begin(
            runs, self.plan, Task(id="t", query="?"), Setting(), scrub=scrub
        ) as record:
            path = record.folder.path
        for attempt in range(6):
            self.provider.is_sound = attempt == 5
            path, is_over = await self._attempt(path, scrub)
            if is_over:
                break
        report = json.loads((path / "result.json").read_text())["usage"]
        report.pop("cost")
        return Usage(**report)

    async def _attempt(self, path: Path, scrub: Scrubber) -> tuple[Path, bool]:
        """Go on with the run; give its folder, and whether it came to its end."""
        self.provider.hung.clear()
        ending = self.chance.choice(self.endings)
        async with open_services(self.catalogue, Setting()) as services:
            await services.prepare(self.plan)
            async with RunRecord(RunFolder(path, scrub), self.plan) as record:
                budget = Budget(self.caps)
                budget.deposit(record.spent(), seconds=record.journal.seconds)
                working = asyncio.create_task(
                    services.execute(
                        self.plan,
                        Task(id="t", query="?"),
                        journal=record.journal,
                        scrubber=scrub,
                        budget=budget,
                    )
                )
                hung = asyncio.create_task(asyncio.to_thread(self.provider.hung.wait, PATIENCE))
                await asyncio.wait({working, hung}, return_when=asyncio.FIRST_COMPLETED)
                self.provider.hung.set()
                record.journal._started -= self.took
                if working.done():
                    record.finish(await working)
                    return path, True
                image = path
                if ending == "kill":  # what a process leaves that is killed now
                    self.number += 1
                    image = self.folder / f"image-{self.number}"
                    shutil.copytree(path, image)
                self.broken_off += 1
                working.cancel()
                await asyncio.wait({working})
        return image, False


def _caps(chance: Random) -> Caps:
    kind = chance.choice(["calls", "tokens", "usd"])
    return Caps.parse(
        {
            "calls": f"calls={chance.randint(1, 8)}",
            "tokens": f"tokens={chance.randint(200, 3000)}",
            "usd": f"usd={chance.uniform(0.02, 0.3):.4f}",
        }[kind]
    )


def known_of(folder: Path, model: ScriptedModel) -> tuple[Catalogue, Plan]:
    (folder / "team.yaml").write_text(TEAM)
    default = Model(
        alias="default",
        model="m",
        api_base=model.api_base,
        usd_per_mtok_input=USD_PER_MTOK,
        usd_per_mtok_output=USD_PER_MTOK,
    )
    known = Catalogue.of_host(models={"default": default})
    return known, compile(load_team(folder / "team.yaml", known), known)


def test_what_the_server_saw_is_capped_and_in_every_report(tmp_path: Path, nightly: bool) -> None:
    for number in range(SEQUENCES["nightly" if nightly else "change"]):
        folder = tmp_path / str(number)
        folder.mkdir()
        chance = Random(number)
        provider = Provider(chance=chance)
        with ScriptedModel(provider) as model:
            known, plan = known_of(folder, model)
            caps = _caps(chance)
            lifetime = Lifetime(
                folder=folder,
                provider=provider,
                caps=caps,
                chance=chance,
                plan=plan,
                catalogue=known,
            )
            report = asyncio.run(lifetime.to_the_end())
        calls = provider.seen.total()
        # A call that was killed on its way out may count though it never arrived.
        assert calls <= report.calls <= calls + WIDEST * lifetime.broken_off, (number, report)
        assert caps.calls is None or calls <= caps.calls, number
        assert caps.tokens is None or provider.tokens <= report.tokens <= caps.tokens, number
        assert caps.usd is None or provider.usd <= report.usd <= caps.usd, number
        shutil.rmtree(folder)


def test_a_cap_on_seconds_holds_over_resumes(tmp_path: Path) -> None:
    provider = Provider(chance=Random(0), always="hang")
    with ScriptedModel(provider) as model:
        known, plan = known_of(tmp_path, model)
        lifetime = Lifetime(
            folder=tmp_path, provider=provider, caps=Caps(seconds=1500), chance=Random(0),
            plan=plan, catalogue=known, took=1000, endings=["interrupt"],
        )  # fmt: skip
        report = asyncio.run(lifetime.to_the_end())
    assert lifetime.broken_off == 2
    assert provider.seen.total() <= report.calls <= 2 * (1 + WIDEST)
