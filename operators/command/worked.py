"""A team that worked, for `mas op` of what judges, coaches and rebuilds it: read from its run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...schema.errors import InputError
from ...schema.loading import read_file
from ..account import Account
from ..answers import Unfit
from ..contributions import contributions, contributions_in
from ..recorded import read_run
from .arguments import Host, asked_task, known_of

if TYPE_CHECKING:
    from pathlib import Path

    from ...schema.task import Task
    from ...schema.team import Team
    from ..contributions import Contribution, Contributions
    from ..meta import Meta
    from ..proposal import Dropped

__all__ = ["Worked", "folder_in", "read_judged", "said_of"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Worked:
    """A team that worked, for who judges it.

    Attributes:
        host: What operators have of this host.
        task: What it worked on.
        account: What its agents did.
    """

    host: Host
    task: Task
    account: Account

    @classmethod
    def of(cls, team: str, run: Path, options: dict[str, Any]) -> Worked:
        """Load the team, its run, and the task.

        Raises:
            InputError: One does not load, or the run is not of the team.
        """
        known = known_of(options)
        task = asked_task(options, known, (run,))
        host = Host.of(options, known)
        [parent] = host.parents([team])
        return cls(host=host, task=task, account=_account(parent.team, run))

    @property
    def team(self) -> Team:
        """The team."""
        return self.account.team

    def reward(self, folder: Path) -> float:
        """Give what its answer was worth, in [0, 1]: the score of the run.

        Args:
            folder: The run's folder.

        Raises:
            InputError: The run has no score.
        """
        if (score := self.account.run.score) is None:
            raise InputError(
                f"{folder}: this run has no score, since its task has no reference answer. Say what"
                " it was worth: --reward 0.5."
            )
        return score.value

    async def judged(self, meta: Meta) -> Contributions | Dropped:
        """Have a model judge what its agents contributed."""
        return await contributions(meta, "contributions", self.task, self.account)


def _account(team: Team, folder: Path) -> Account:
    """Read what the agents of a team did.

    Raises:
        InputError: The run is not of the team, or did not come to its end.
    """
    run = read_run(folder)
    if {*run.agents} != {*team.agents}:
        raise InputError(
            f"{folder}: the agents of this run are {', '.join(run.agents)}, not those of"
            f" {team.name}. Give the team that worked: {folder / 'team.yaml'}; where it adapted,"
            " that of the round that answered."
        )
    return Account(team=team, run=run)


def read_judged(file: Path) -> Contributions:
    """Read what was said of a round.

    Raises:
        InputError: It cannot be read, or is something else.
    """
    try:
        return contributions_in(read_file(file).decode("utf-8", errors="replace"))
    except Unfit as unfit:
        why = unfit.problems[0].removeprefix("the answer: ")
        raise InputError(f"{file}: not what mas op contributions writes: {why}.") from None


def said_of(agent: str, file: Path) -> Contribution:
    """Read what was said of an agent.

    Raises:
        InputError: Nothing was, or as for `read_judged`.
    """
    said = read_judged(file).of
    if agent not in said:
        raise InputError(f"{file}: nothing is said of {agent!r}, only of {', '.join(said)}.")
    return said[agent]


def folder_in(run: Path, name: str) -> Path:
    """Give the folder in which a run's folder keeps what was found out about it; make it first.

    Raises:
        InputError: It cannot be made.
    """
    folder = run / name
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}.") from None
    return folder
