"""The common options of the `mas dev op` subcommands, and their access to a model."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ...runtime.command.spending import cache_option, caps_of, caps_option
from ...schema.command import host_options, problem_format, with_options
from ...schema.host.models import DEFAULT_ALIAS
from ...schema.loading.loading import read_file
from ...schema.values.errors import InputError, RunError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from ...pool.ledger.learnt import Learnt
    from ...pool.teams.pool import Pool
    from ...runtime.values.budget import Caps
    from ...schema.host.catalogue import Catalogue
    from ...schema.loading.ceiling import CapabilityPolicy
    from ...schema.team.task import Task
    from ...schema.team.team import Team
    from ..core.meta import MetaModel
    from ..core.proposal import Parent, RejectedProposal

FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
FRACTION = click.FloatRange(0, 1)
MOST_LEARNT = 3
"""The most memory entries that an operator reads: the default in an evolution."""
Outcome = TypeVar("Outcome")


model_options = with_options(
    click.option(
        "--meta-model",
        metavar="ALIAS",
        default="default",
        show_default=True,
        help="The alias of the model that the operator calls.",
    ),
    caps_option("--budget", "The limits: usd=2,tokens=50000."),
    cache_option,
)


"""The options that choose the model."""
setting_options = with_options(
    problem_format,
    host_options,
    click.option(
        "--seed", type=int, help="The random seed for draws, and for models that support one."
    ),
)
"""The options that every operator has."""
embedder_option = click.option(
    "--embedder", help="minilm, hashing, or a model's alias.  [default: minilm]"
)
policy_option = click.option(
    "--policy",
    type=FILE,
    help="The upper bounds of a child.  [default: the tools and backends of its parents, no higher"
    " limits, and this host's models]",
)


def learnt(
    pool: Pool | None,
    task: Task,
    catalogue: Catalogue,
    embedder: str | None,
    most: int = MOST_LEARNT,
) -> list[tuple[Learnt, float]]:
    """Search a pool's memory; an empty or missing one needs no embedder."""
    from ...pool.memory.memory import open_memory

    if pool is None or not pool.learnt:
        return []
    memory = open_memory(pool, embedder=embedder, models=catalogue.models)
    return memory.search(task.text, most)


def text_in(file: Path) -> str:
    """Read a text file."""
    return read_file(file).decode("utf-8", errors="replace")


def refusal(rejected: RejectedProposal) -> RunError:
    """Return the error that reports a rejected proposal."""
    return RunError(rejected.text)


@dataclass(frozen=True, kw_only=True, slots=True)
class OperatorHost:
    """The resources of operators on this host.

    Attributes:
        policy: The ceiling from a policy file; None without one.
        cache: A folder of answers that calls share; None without one.
    """

    catalogue: Catalogue
    meta_model: str
    policy: CapabilityPolicy | None
    seed: int | None
    budget: Caps
    cache: Path | None = None

    @classmethod
    def of(cls, options: dict[str, Any], catalogue: Catalogue) -> OperatorHost:
        """Return the resources that the options choose."""
        from ...runtime.values.budget import Caps
        from ...schema.loading.ceiling import load_ceiling

        return cls(
            catalogue=catalogue,
            meta_model=options.get("meta_model", DEFAULT_ALIAS),
            policy=load_ceiling(policy) if (policy := options.get("policy")) else None,
            seed=options["seed"],
            budget=caps_of(options) or Caps(),
            cache=options.get("cache"),
        )

    def parents(self, sources: Sequence[str], runs: Sequence[Path] = ()) -> list[Parent]:
        """Load teams, each with the digest of its run, if given.

        Prompts from files outside coterie are inlined, so that a child is complete wherever it is
        put.

        Raises:
            InputError: A file does not load, or there are more runs than teams.
        """
        from ...pool.teams.sources import load_source
        from ..core.bounds import Bounds
        from ..core.digest import digest
        from ..core.proposal import Parent
        from ..core.recorded import read_run

        if len(runs) > len(sources):
            raise InputError(f"got {len(runs)} runs for {len(sources)} teams. Name one run a team.")
        tokens = Bounds.of(self.catalogue.models.get(self.meta_model)).digest_tokens
        digests = [digest(read_run(folder), tokens=tokens) for folder in runs]
        digests += [""] * (len(sources) - len(runs))
        return [
            Parent(team=load_source(source, self.catalogue), digest=name)
            for source, name in zip(sources, digests, strict=True)
        ]

    def ceiling(self, *teams: Team) -> CapabilityPolicy:
        """Return the ceiling of a child: the policy, or little more than what its parents ask for.

        Without a policy, it allows all models of this host, because the user has named them.
        """
        from ...schema.loading.ceiling import CapabilityPolicy

        if self.policy is not None:
            return self.policy
        return replace(
            CapabilityPolicy.of(*teams), models=self.catalogue.aliases, agents=None, edges=None
        )

    def ask(
        self,
        ceiling: CapabilityPolicy,
        work: Callable[[MetaModel], Awaitable[Outcome]],
        *,
        others: Iterable[str] = (),
    ) -> Outcome:
        """Run an operator with an open model.

        Args:
            others: The aliases of further models that it asks.
        """
        from ...runtime.command.loading import fetch_embedded

        names = sorted({self.meta_model, *others})
        fetch_embedded(
            [self.catalogue.models[name] for name in names if name in self.catalogue.models]
        )

        async def run() -> Outcome:
            from ...runtime.runs.services import Setting, open_services
            from ...runtime.values.budget import Budget
            from ..core.meta import MetaModel

            setting = Setting(seed=self.seed, budget=self.budget, cache=self.cache)
            async with open_services(self.catalogue, setting) as services:
                gateway = services.gateway
                await gateway.prepare(names, priced=setting.must_be_priced)
                meta = MetaModel(
                    calls=services.calls(scrubber=services.scrubber(os.environ)),
                    catalogue=self.catalogue,
                    ceiling=ceiling,
                    model=self.meta_model,
                    budget=Budget(setting.budget),
                )
                return await work(meta)

        return asyncio.run(run())
