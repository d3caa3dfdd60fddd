"""An evaluation, or a folder of several, as a site."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ...pool.values.layout import MANIFEST as EVOLUTION
from ...runtime.record.journal import FILE
from ...runtime.runs.record import MANIFEST
from ...runtime.view import FolderSite, Links, NoPage, Page, is_number
from ...runtime.view.run import run_page
from ...schema.team.team import natural
from ...schema.values.errors import InputError
from ..command.viewing import trial_of
from ..evaluation.results import RESULTS, SAMPLES
from .comparison import comparisons_page, pair_page
from .evaluated import EvaluationFolder
from .figures import figures_page
from .many import many_page
from .samples import samples_page

MOST = 500
"""The maximum number of evaluations of a folder to show."""
IN_A_FILE = 8
"""The maximum number of evaluations whose own pages go into a single file."""


def open_results(folder: Path) -> ResultsSite | None:
    """Return the site of an evaluation, or of a folder of several; None for another folder."""
    if _is_evaluation(folder):
        return ResultsSite(folder=folder, members={"": EvaluationFolder(folder=folder)})
    paths = sorted(filter(_is_evaluation, _folders(folder)), key=lambda path: natural(path.name))
    if not paths or (folder / MANIFEST).exists():
        return None
    members = {f"{path.name}/": EvaluationFolder(folder=path) for path in paths[-MOST:]}
    return ResultsSite(folder=folder, members=members)


def _is_evaluation(folder: Path) -> bool:
    there = {name: (folder / name).exists() for name in (MANIFEST, "task.json", EVOLUTION)}
    has_some = any((folder / name).exists() for name in (RESULTS, SAMPLES, FILE))
    return has_some and there[MANIFEST] and not there["task.json"] and not there[EVOLUTION]


def _folders(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        return [path for entry in entries if (path := Path(entry.path)).is_dir()]


@dataclass(frozen=True, kw_only=True)
class ResultsSite(FolderSite):
    """The site of one or several evaluations in a folder.

    Attributes:
        members: The evaluations, by the prefix of their addresses: empty for a single one.
    """

    members: Mapping[str, EvaluationFolder] = field(repr=False)

    @cached_property
    def is_alone(self) -> bool:
        """Whether the folder is a single evaluation."""
        return "" in self.members

    @property
    def contents(self) -> Mapping[str, str]:
        """The figures and the samples; for several evaluations, first the common page."""
        if self.is_alone:
            return {"": "Results", "samples": "Samples"}
        own = {
            f"{prefix}{address}": f"{member.name}{title}"
            for prefix, member in [*self.members.items()][:IN_A_FILE]
            for address, title in {"": "", "samples": ": samples"}.items()
        }
        return {"": "Evaluations", "compare": "Comparisons", **own}

    @property
    def state(self) -> str:
        """A key that changes with the files; empty once no process works on any."""
        if not any(member.is_at_work for member in self.members.values()):
            return ""
        return " ".join(member.stamp for member in self.members.values())

    def page(self, address: str, links: Links) -> Page:
        """Return a page: of contents, of several samples, of one sample, or of two evaluations."""
        if not self.is_alone:
            if not address:
                return many_page(self.folder, self.members, links)
            if address == "compare":
                return comparisons_page(self.members, links)
            if address.startswith("compare/"):
                return pair_page(self.members, address, links)
        prefix = "" if self.is_alone else address.partition("/")[0] + "/"
        evaluated = self.members.get(prefix)
        if evaluated is None:
            raise NoPage(address)
        return _of_one(evaluated, prefix, address.removeprefix(prefix), links)


def _of_one(evaluated: EvaluationFolder, prefix: str, address: str, links: Links) -> Page:
    kind, _, rest = address.partition("/")
    if not address:
        return figures_page(evaluated, prefix, links)
    if kind == "samples":
        return samples_page(evaluated, prefix, rest, links)
    trial, _, task = rest.partition("/")
    if kind != "sample" or not is_number(trial) or not task:
        raise NoPage(address)
    if all((each.task, each.trial) != (task, int(trial)) for each in evaluated.samples):
        raise InputError(f"{evaluated.folder}: there is no trial {trial} of a task {task!r} yet.")
    return run_page(trial_of(evaluated.loaded, evaluated.folder, task, int(trial)), links)
