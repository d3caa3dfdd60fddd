"""The folders of a pool's agents: what each is, and what it has learnt, as files that follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from ...schema.values.errors import StorageError
from ..ledger.agents import PoolAgent
from ..ledger.lessons import Lessons
from ..values.layout import archive_of
from .agent_files import AgentFiles
from .archive_files import ArchiveFiles


class AgentFolders:
    """The folders of agents. Whoever writes has to be alone at work on the pool."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = AgentFiles(folder=folder)
        self._archives = ArchiveFiles(folder)
        self.orphans = self._files.orphans
        self.remove = self._files.remove

    def write(self, agent: PoolAgent, learnt: Lessons) -> list[Path]:
        """Make the files of an agent what they should be; give those that were something else."""
        written = [agent.path] if self._files.write(agent) else []
        if self._archives.write(agent.name, learnt):
            written.append(self._folder / archive_of(agent.name))
        return written

    def revise(self, agent: PoolAgent) -> None:
        """Write what an agent is."""
        self._files.write(agent)

    def learn(self, agents: Iterable[str], learnt: Lessons) -> None:
        """Write what agents have learnt since."""
        for agent in agents:
            self._archives.follow(agent, learnt)

    def behind(self, agents: Iterable[PoolAgent], learnt: Lessons) -> list[PoolAgent]:
        """Find the agents with a file that a crash left behind."""
        return [agent for agent in agents if self._is_behind(agent, learnt)]

    def _is_behind(self, agent: PoolAgent, learnt: Lessons) -> bool:
        try:
            return bool(self._files.is_behind(agent) or self._archives.behind([agent.name], learnt))
        except StorageError:
            if agent.retired is None:
                raise
            return False  # nobody works with it

    def look(self, agent: PoolAgent, learnt: Lessons) -> tuple[list[str], list[str]]:
        """Read all of the files of an agent; say which are behind, and which say something else."""
        archive = self._folder / archive_of(agent.name)
        looks: Mapping[str, Callable[[], bool]] = {
            f"{agent.path}: a crash left it a revision behind.": lambda: self._files.is_behind(
                agent
            ),
            f"{archive}: a crash left it behind the ledger.": lambda: self._archives.is_behind(
                agent.name, learnt
            ),
        }
        behind, wrong = list[str](), list[str]()
        for said, is_so in looks.items():
            try:
                behind += [said] if is_so() else []
            except StorageError as error:
                wrong.append(str(error))
        return behind, wrong
