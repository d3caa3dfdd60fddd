"""The work of `mas dev blame`: reads a run's folder, asks a model, and keeps the verdict."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from ...runtime.command.loading import fetch_embedded
from ...runtime.command.signals import same_command, stopped_in_order, to_the_end
from ...runtime.command.spending import setting_of
from ...runtime.record.journal import Journal
from ...runtime.record.trace import RunFolder
from ...runtime.runs.again import known_again
from ...runtime.runs.record import as_json, read_setting
from ...runtime.runs.services import Services, Setting, open_services
from ...runtime.scrubbing.scrubber import Scrubber
from ...runtime.values.budget import Budget
from ...runtime.values.usage import Usage
from ...schema.command import catalogue_of
from ...schema.host.catalogue import Catalogue
from ...schema.host.models import require_model
from ...schema.loading.ceiling import CapabilityPolicy
from ...schema.values.errors import InputError
from ...schema.values.json_text import dumps
from ...schema.values.terminal import speakable_json
from ..blame.attributing import attribute
from ..blame.finding import Finding
from ..blame.reading import RunEnding, outage_of_run, trace_of
from ..blame.trace import FailedRun
from ..core.meta import MetaModel
from ..core.proposal import RejectedProposal
from .arguments import refusal
from .run_folders import folder_in

FOLDER = "blame"
"""The subfolder of a run for the verdict and the answers behind it."""


@dataclass(kw_only=True, eq=False)
class _CallCounts:
    usage: Usage = field(default_factory=Usage)
    recorded: int = 0
    dropped: int = 0

    def __call__(self, event: str, /, **fields: Any) -> None:
        if event == "model_call":
            self.usage += Usage(**fields["usage"])
            self.recorded += "source" in fields
        self.dropped += event == "operator_dropped"


@dataclass(kw_only=True, eq=False)
class Blaming:
    """An attribution in progress, to its end or an interruption.

    Attributes:
        catalogue: The models of this host and of the run.
    """

    folder: Path
    catalogue: Catalogue
    setting: Setting
    options: dict[str, Any]

    @classmethod
    def of(cls, folder: Path, options: dict[str, Any]) -> Blaming:
        """Read a run's folder, and check it and the options.

        Raises:
            InputError: It is not a run's folder, a process works on it, the run succeeded, or a
                file is damaged.
        """
        recorded, models = read_setting(folder)
        with Journal.open(folder, replaying=True):  # no process works on it
            ended = RunEnding.of(folder)
            _must_have_failed(folder, ended, options)
            _must_be_an_agents_doing(folder, ended)
        alias = options["meta_model"]
        judges = {name: model for name, model in models.items() if name == alias}
        catalogue = known_again(folder, catalogue_of(options), judges, options["model"])
        require_model("--meta-model", alias, catalogue.models)
        setting = setting_of(options, Setting(seed=recorded.seed))
        return cls(folder=folder, catalogue=catalogue, setting=setting, options=options)

    def to_the_end(self) -> int:
        """Attribute the failure, print the verdict, and return the exit code."""
        fetch_embedded((self.catalogue.models[self.options["meta_model"]],))
        return stopped_in_order(lambda: to_the_end(self._work(), same_command))

    async def _work(self) -> int:
        async with open_services(self.catalogue, self.setting) as services:
            scrubber = services.scrubber(os.environ)
            # While it is open, no other process can resume the run.
            with Journal.open(self.folder, replaying=True):
                trace = self._trace(scrubber)
                place = folder_in(self.folder, FOLDER)
                with Journal.open(place) as own:
                    finding = await self._ask(services, scrubber, trace, own)
                saved = RunFolder(place, scrubber)
                saved.write(f"{finding.verdict.scheme}.json", as_json(finding.value()))
        if self.options["as_json"]:
            click.echo(speakable_json(dumps(finding.value(), indent=2)))
        else:
            click.echo(finding.text())
        return 0 if finding.verdict.is_decided else 1

    def _trace(self, scrubber: Scrubber) -> FailedRun:
        """Read the run, without secrets of this host."""
        expected, is_blind = self.options["expected"], self.options["blind"]
        return trace_of(self.folder, expected=expected, is_blind=is_blind, scrub=scrubber)

    async def _ask(
        self, services: Services, scrubber: Scrubber, trace: FailedRun, own: Journal
    ) -> Finding:
        scheme, alias, report = self.options["scheme"], self.options["meta_model"], _CallCounts()
        await services.gateway.prepare([alias], priced=self.setting.must_be_priced)
        budget = Budget(self.setting.budget, name="the attribution")
        budget.deposit(own.spent(), seconds=own.seconds)
        meta = MetaModel(
            calls=services.calls(journal=own, scrubber=scrubber),
            catalogue=self.catalogue,
            ceiling=CapabilityPolicy(),
            model=alias,
            budget=budget,
            tell=report,
        )
        rounds = self.options["rounds"]
        result = await attribute(meta, scheme, trace, scheme=scheme, rounds=rounds)
        if isinstance(result, RejectedProposal):
            raise refusal(result)
        return Finding(
            trace=trace,
            verdict=result,
            model=alias,
            rounds=rounds if scheme == "collaborative" else 0,
            usage=report.usage,
            recorded=report.recorded,
            dropped=report.dropped,
        )


def _must_have_failed(folder: Path, ended: RunEnding, options: dict[str, Any]) -> None:
    """Raise unless there is a failure to explain."""
    expected: str | None = options["expected"]
    if ended.status != "done" or options["wrong"]:
        return
    if expected is not None:
        if (ended.answer or "").strip() == expected.strip():
            raise InputError(f"{folder}: this run gave the expected answer: no agent failed.")
    elif ended.score is None:
        raise InputError(
            f"{folder}: this run has an answer but no score, so it may have succeeded. If it"
            " failed, add --wrong, or the right answer: --expected ANSWER."
        )
    elif ended.score >= 1:
        raise InputError(
            f"{folder}: this run succeeded, with score {ended.score:.3g}: no agent failed. If its"
            " answer is wrong anyway, add --wrong."
        )


def _must_be_an_agents_doing(folder: Path, ended: RunEnding) -> None:
    if outage := outage_of_run(folder):
        raise InputError(
            f"{folder}: this run failed because its model was unavailable ({outage}), which is no"
            f" agent's fault. Resume it: mas-run --resume {folder}"
        )
    if not trace_of(folder).doers:
        why = f" It ended with: {ended.error}" if ended.error else ""
        raise InputError(f"{folder}: no agent of this run did anything that could be blamed.{why}")
