"""Random histories of a pool that several people go on with, and one pool that sees all of it.

Each of three branches changes and takes in the others, at random; whatever happens to a branch
happens to the witness as well, at once. In the end one branch has it all.
"""

import random
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from coterie.pool import Admission, Pool, verify
from coterie.pool.git.driver import merge_file, set_up
from coterie.pool.ledger.changes import Added, Change, Evaluated, Learnt, Restored, Retired, Revised
from coterie.pool.values.layout import LEDGER
from coterie.pool.values.statistics import Trial, TrialPart
from coterie.runtime.values.usage import Usage
from coterie.schema import Agent, Catalogue, Lineage, Team

from ..support.repositories import run_git
from .edited_teams import SEED, edited

BRANCHES = ("ann", "ben", "cay")
STEPS = 12
MERGES = 0.35
"""The share of steps that take in another branch."""
EIGHTHS = 8
"""Scores are whole eighths, so that their sums are exact in whatever order they are made."""


class Branches(Protocol):
    """Where branches are: folders, or a repository of git."""

    def folder(self, branch: str) -> Path:
        """Return the folder in which a branch is."""
        ...

    def keep(self, branch: str) -> None:
        """Keep what happened to a branch."""
        ...

    def take(self, branch: str, other: str) -> None:
        """Take another branch into one."""
        ...


class Folders:
    """Branches as folders, whose files are merged one by one as git has the driver do it."""

    def __init__(self, base: Path) -> None:
        self._base, self._nothing = base, base.with_name("nothing")
        self._nothing.touch()
        for branch in BRANCHES:
            shutil.copytree(base, self.folder(branch))

    def folder(self, branch: str) -> Path:
        return self._base.with_name(branch)

    def keep(self, branch: str) -> None:
        pass

    def take(self, branch: str, other: str) -> None:
        ours, theirs = self.folder(branch), self.folder(other)
        for path in sorted(theirs.rglob("*")):
            name = path.relative_to(theirs)
            if path.is_dir() or name.name.startswith("."):
                continue
            if not (ours / name).exists():
                (ours / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, ours / name)
            elif (mine := (ours / name).read_bytes()) != path.read_bytes():
                merge_file(self._nothing, ours / name, path, name.as_posix())
                if name.name == LEDGER:
                    self._expect_same_by_the_other(ours / name, path, mine)

    def _expect_same_by_the_other(self, merged: Path, theirs: Path, ours: bytes) -> None:
        """Make sure that the other branch, taking in this one, would have come to the same."""
        turned = self._base.with_name("turned"), self._base.with_name("ours")
        shutil.copyfile(theirs, turned[0])
        turned[1].write_bytes(ours)
        merge_file(self._nothing, *turned, LEDGER)
        assert turned[0].read_bytes() == merged.read_bytes()


class Repository:
    """Branches in a repository of git, each in a work tree of its own.

    Args:
        driver: Whether git merges with the driver. Else it goes by the pool's attributes.
    """

    def __init__(self, base: Path, *, driver: bool) -> None:
        self._base = base
        run_git(base, "init", "-q", "-b", "main")
        self.keep("main")
        for branch in BRANCHES:
            run_git(base, "worktree", "add", "-q", "-b", branch, str(self.folder(branch)))
        if driver:
            set_up(base)

    def folder(self, branch: str) -> Path:
        return self._base if branch == "main" else self._base.with_name(branch)

    def keep(self, branch: str) -> None:
        run_git(self.folder(branch), "add", "-A")
        run_git(self.folder(branch), "commit", "-q", "--allow-empty", "-m", branch)

    def take(self, branch: str, other: str) -> None:
        run_git(self.folder(branch), "merge", "-q", "--no-edit", other)
        Pool.open(self.folder(branch))
        self.keep(branch)  # what opening it has brought up


def begun(folder: Path) -> Pool:
    """A pool with two teams and an agent, which branches share."""
    pool = Pool.init(folder, shared=True)
    for name, prompt in (("vote", "Solve it."), ("guess", "Guess.")):
        team = Team(name=name, agents={"w1": Agent(id="w1", prompt=prompt)})
        pool.add(team, SEED, op=f"seed/{name}")
    pool.commit(Added(member=Agent(id="clerk", prompt="Count."), lineage=SEED), op="seed/clerk")
    pool.commit(Evaluated(member="vote", trial=Trial(task="t0", score=0.5)), op="t0")
    return pool


class History:
    """What happens to branches and, at once, to a witness.

    Args:
        agents: Whether there are agents, whose files git alone cannot merge.
    """

    def __init__(
        self,
        branches: Branches,
        witness: Path,
        chance: random.Random,
        catalogue: Catalogue,
        *,
        agents: bool,
    ) -> None:
        self.branches = branches
        self.witness = Pool.open(witness, catalogue=catalogue)
        self.ops = Counter(entry.op for entry in self.witness.entries())
        self._chance = chance
        self._catalogue = catalogue
        self._names = {name: name for name in (*self.witness.teams, *self.witness.all_agents)}
        """What the witness calls the members that branches have: a twin has another name there."""
        self._kinds = [self._bear, self._bear_twin, self._retire, self._retire]
        self._kinds += [self._try, self._try, self._try, self._learn, self._learn]
        self._kinds += [self._bear_agent, self._revise, self._teach] if agents else []

    def go(self) -> None:
        """Let everything happen; in the end each branch has taken in all of the others."""
        for step in range(STEPS):
            branch = self._chance.choice(BRANCHES)
            if self._chance.random() < MERGES:
                self.branches.take(branch, self._chance.choice([*{*BRANCHES} - {branch}]))
            else:
                pool = Pool.open(self.branches.folder(branch), catalogue=self._catalogue)
                for number in range(self._chance.randint(1, 3)):
                    self._chance.choice(self._kinds)(pool, f"{step} {number}")
                self.branches.keep(branch)
        first, *others = BRANCHES
        for other in others:
            self.branches.take(first, other)

    def check(self) -> None:
        """Hold what came of it to what the witness saw."""
        merged = Pool.open(self.branches.folder(BRANCHES[0]), catalogue=self._catalogue)
        faults = verify(merged.folder, self._catalogue).faults
        assert not faults, faults
        assert Counter(entry.op for entry in merged.entries()) == self.ops
        assert {self._names[name] for name in (*merged.teams, *merged.all_agents)} == {
            *self.witness.teams,
            *self.witness.all_agents,
        }
        for name, item in {**merged.teams, **merged.all_agents}.items():
            seen = self.witness.find(self._names[name])
            if not self._is_twin(name):
                assert self._named(item.lineage.parents) == seen.lineage.parents
        assert self._sums(merged, self._names) == self._sums(self.witness, {})
        assert {entry.id: entry.text for entry in merged.learnt.values()} == {
            entry.id: entry.text for entry in self.witness.learnt.values()
        }
        for name, agent in merged.all_agents.items():
            ops = Counter(revision.op for revision in agent.revisions)
            seen = self.witness.agent(self._names[name])
            assert ops == Counter(revision.op for revision in seen.revisions)

    def _is_twin(self, name: str) -> bool:
        """Return whether the witness had a team when a branch made it."""
        return list(self._names.values()).index(self._names[name]) != list(self._names).index(name)

    def _named(self, members: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self._names[member] for member in members)

    def _sums(self, pool: Pool, names: dict[str, str]) -> dict[Any, tuple[Any, ...]]:
        """Add up what is known of all teams and agents, by the name that the witness has."""
        table: dict[Any, list[Any]] = {}
        for name, item in {**pool.teams, **pool.all_agents}.items():
            known = item.statistics
            report = [known.n, known.failures, known.score_sum, known.chosen, known.chosen_sum]
            report += [known.usage.calls, known.usage.prompt_tokens]
            parts = {"": report} | {
                niche: [part.n, part.score_sum] for niche, part in item.niches.items()
            }
            for niche, numbers in parts.items():
                key = (names.get(name, name), niche)
                before = table.get(key, [0] * len(numbers))
                table[key] = [a + b for a, b in zip(before, numbers, strict=True)]
        return {key: tuple(numbers) for key, numbers in table.items()}

    def _commit(self, pool: Pool, change: Change, op: str) -> None:
        result = pool.commit(change, op=op)
        seen = self.witness.commit(self._as_witnessed(change), op=op)
        self.ops[op] += 1
        if isinstance(result, Admission) and isinstance(seen, Admission):
            self._names.setdefault(result.name, seen.name)

    def _as_witnessed(self, change: Change) -> Change:
        """Return a change with the names that the witness has for whom it is of."""
        match change:
            case Added():
                parents, inherits = map(self._named, (change.lineage.parents, change.inherits))
                lineage = replace(change.lineage, parents=parents)
                return replace(change, lineage=lineage, inherits=inherits)
            case Evaluated():
                parts = change.trial.agents.items()
                agents = {item: TrialPart(member=self._names[part.member]) for item, part in parts}
                trial = replace(change.trial, agents=agents)
                return replace(change, member=self._names[change.member], trial=trial)
            case Retired() | Restored():
                return replace(change, member=self._names[change.member])
            case Revised():
                return replace(change, agent=self._names[change.agent])
            case Learnt(owner=str(owner)):
                return replace(change, owner=self._names[owner])
            case _:
                return change

    def _bear(self, pool: Pool, op: str, prompt: str = "") -> None:
        parent = self._chance.choice([*pool.teams])
        team = edited(pool.member(parent).team, prompt=prompt or op)
        born = Lineage(operator="mutate", parents=(parent,))
        self._commit(pool, Added(member=team, lineage=born), f"born {op}")

    def _bear_twin(self, pool: Pool, op: str) -> None:
        self._bear(pool, op, self._chance.choice(("Think.", "Think twice.")))

    def _try(self, pool: Pool, op: str) -> None:
        chance = self._chance
        agents = (
            {"w1": TrialPart(member=chance.choice([*pool.all_agents]))} if pool.all_agents else {}
        )
        trial = Trial(
            task=op,
            score=None if chance.random() < 0.1 else chance.randint(0, EIGHTHS) / EIGHTHS,
            niche=chance.choice((None, "sums", "poems")),
            usage=Usage(calls=1, prompt_tokens=chance.randint(1, 99)),
            agents=agents if chance.random() < 0.5 else {},
            chosen=chance.random() < 0.1,
        )
        self._commit(
            pool, Evaluated(member=chance.choice([*pool.teams]), trial=trial), f"tried {op}"
        )

    def _learn(self, pool: Pool, op: str) -> None:
        known = [*pool.learnt]
        replaces = (self._chance.choice(known),) if known and self._chance.random() < 0.2 else ()
        self._commit(
            pool, Learnt(kind="lesson", task=op, text=op, replaces=replaces), f"learnt {op}"
        )

    def _retire(self, pool: Pool, op: str) -> None:
        name = self._chance.choice([*pool.teams])
        if pool.member(name).retired is None:
            self._commit(pool, Retired(member=name, reason=op), f"retired {op}")

    def _bear_agent(self, pool: Pool, op: str) -> None:
        parent = self._chance.choice([*pool.all_agents])
        agent = replace(pool.agent(parent).agent, prompt=op)
        change = Added(
            member=agent,
            lineage=Lineage(operator="fork", parents=(parent,)),
            inherits=(parent,) if self._chance.random() < 0.5 else (),
        )
        self._commit(pool, change, f"agent {op}")

    def _revise(self, pool: Pool, op: str) -> None:
        name = self._chance.choice([*pool.all_agents])
        to = replace(pool.agent(name).agent, prompt=op)
        self._commit(pool, Revised(agent=name, to=to, reason=op), f"revised {op}")

    def _teach(self, pool: Pool, op: str) -> None:
        owner = self._chance.choice([*pool.all_agents])
        self._commit(pool, Learnt(kind="lesson", task=op, text=op, owner=owner), f"taught {op}")


def history(
    folder: Path,
    seed: int,
    catalogue: Catalogue,
    branched: Callable[[Path], Branches],
    *,
    agents: bool,
) -> None:
    """Let a history happen in a new folder, and check what came of it.

    Args:
        folder: The folder, which is made and removed.
    """
    folder.mkdir()
    begun(folder / "pool")
    shutil.copytree(folder / "pool", folder / "witness")
    chance = random.Random(seed)
    item = History(branched(folder / "pool"), folder / "witness", chance, catalogue, agents=agents)
    item.go()
    item.check()
    shutil.rmtree(folder)
