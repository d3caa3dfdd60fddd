"""The work of `mas dev op credit`: reads a run's folder, makes and reports counterfactuals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from ...runtime.command.loading import Loaded, fetch_embedded, load_folder
from ...runtime.command.signals import same_command, stopped_in_order, to_the_end
from ...runtime.command.spending import caps_of
from ...runtime.plan.plan import Plan, compile
from ...runtime.record.journal import Journal
from ...runtime.runs.adapting import RECIPE
from ...runtime.runs.again import known_again
from ...runtime.runs.record import read_result, read_setting
from ...runtime.runs.services import Setting, open_services
from ...runtime.values.budget import Caps
from ...schema.command import catalogue_of
from ...schema.host.models import require_model
from ...schema.values.errors import InputError
from ...schema.values.json_text import dumps
from .credit_making import Making
from .run_folders import folder_in

FOLDER = "credit"
"""The subfolder of a run for the answers of its counterfactuals."""


@dataclass(kw_only=True, eq=False)
class Crediting:
    """A credit computation in progress, to its end or an interruption.

    Attributes:
        setting: How the run was made, with the credit's own budget.
    """

    folder: Path
    answer: str
    loaded: Loaded
    plan: Plan
    setting: Setting
    options: dict[str, Any]

    @classmethod
    def of(cls, folder: Path, options: dict[str, Any]) -> Crediting:
        """Read a run's folder, and check it and the options.

        Raises:
            InputError: It is not a run's folder, a process works on it, its answer is missing or
                cannot be scored, its team adapted, or a file does not load.
        """
        recorded, models = read_setting(folder)
        with Journal.open(folder, replaying=True):  # no process works on it
            answer = _must_have_ended(folder, options["judge"])
        if (folder / RECIPE).exists():
            raise InputError(
                f"{folder}: the team of this run adapted while it worked (mas-run --adapt), and"
                " would have adapted differently without an agent. Use a run without --adapt."
            )
        caps = caps_of(options) or Caps()
        setting = replace(recorded, budget=caps, unsafe_local=options["unsafe_local"])
        catalogue = known_again(folder, catalogue_of(options), models, options["model"])
        loaded = load_folder(folder, catalogue)
        require_model("--judge", options["judge"], loaded.catalogue.models)
        if options["scheme"] == "naive" and options["judge"] is None:
            raise InputError(
                "naive credit needs a judge, which scores each agent: add --judge ALIAS."
            )
        plan = compile(loaded.team, loaded.catalogue)
        return cls(
            folder=folder,
            answer=answer,
            loaded=loaded,
            plan=plan,
            setting=setting,
            options=options,
        )

    def to_the_end(self) -> int:
        """Compute the credit, print it, and return the exit code."""
        if not self.options["dry_run"]:
            alias = self.options["judge"]
            judges = (self.loaded.catalogue.models[alias],) if alias else ()
            fetch_embedded((*self.plan.models.values(), *judges))
        return stopped_in_order(lambda: to_the_end(self._work(), same_command))

    async def _work(self) -> int:
        async with open_services(self.loaded.catalogue, self.setting) as services:
            # While it is open, no other process can resume the run.
            with Journal.open(self.folder, replaying=True) as base:
                making = Making(
                    plan=self.plan,
                    task=self.loaded.task,
                    catalogue=self.loaded.catalogue,
                    services=services,
                    base=base,
                    options=self.options,
                )
                rounds = await making.again(self.answer)
                if self.options["dry_run"]:
                    click.echo(making.bound(rounds))
                    return 0
                await making.prepare()
                with Journal.open(folder_in(self.folder, FOLDER)) as own:
                    table = await making.table(rounds, own)
        text = dumps(table.value(), indent=2) if self.options["as_json"] else table.text()
        click.echo(text)
        return 0


def _must_have_ended(folder: Path, judge: str | None) -> str:
    """Return the answer of a run, or raise if it is missing or cannot be scored."""
    result = read_result(folder) or {"status": "interrupted"}
    if result["status"] != "done":
        why = f" {result['error']}" if result.get("error") else ""
        raise InputError(
            f"{folder}: this run was {result['status']} before it had an answer, so it has no"
            f" score.{why} Finish it with: mas-run --resume {folder}"
        )
    if result.get("score") is None and judge is None:
        raise InputError(
            f"{folder}: its task has no reference answer, so the run has no score. Name a model"
            " that scores answers: --judge ALIAS."
        )
    return result["answer"]
