"""The race of `mas-evolve TEAM TASKS`, and where its winner is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ...pool.teams.sources import load_source
from ...schema.edits.in_place import rewritten
from ...schema.host.catalogue import SEED
from ...schema.loading.loading import read_file, refuse_tasks
from ...schema.loading.recipe import Recipe
from ...schema.loading.seeds import is_seed, located
from ...schema.values.errors import InputError
from ...schema.values.files import refuse_unwritable
from ...schema.values.values import is_mapping
from ...schema.values.yaml_text import read_yaml
from ..core.proposal import edit_words
from ..evolution.strategy import strategy_of
from ..report.gain import Gain, gain_message
from .handing_over import commit_in_place, refuse_unclean, write_new

if TYPE_CHECKING:
    from ...pool.teams.pool import Pool
    from ...schema.host.catalogue import Catalogue
    from ..methods.race.result import RaceResult

RACE = "race"
WORKERS = 4


def race_of(path: Path) -> Recipe | None:
    """Return the recipe of a race if a file is a team; None if it is a recipe.

    Args:
        path: A file, a team's folder, or `seed:NAME`.
    """
    refuse_tasks(path)
    if not (is_seed(path) or path.is_dir()):
        document, _ = read_yaml(read_file(path), str(path))
        if not (is_mapping(document.value) and "agents" in document.value):
            return None
    located(path)
    strategy = strategy_of(RACE)
    seed = str(path) if is_seed(path) else path.name
    return Recipe(strategy=RACE, settings=strategy.settings(), seeds=(seed,), workers=WORKERS)


@dataclass(frozen=True, kw_only=True, slots=True)
class HandOver:
    """Where the better team of a race is written.

    Attributes:
        source: The team's file, or `seed:NAME`.
        out: The new file; None: the source is changed, as one commit.
    """

    source: Path
    out: Path | None

    @classmethod
    def of(cls, source: Path, out: Path | None, *, in_place: bool) -> Self:
        """Return the target: by default NAME.better.yaml, beside the source.

        Raises:
            InputError: Both targets are given.
        """
        if out is not None and in_place:
            raise InputError("--out and --in-place: write the team to one of them.")
        name = Path(f"{str(source).removeprefix(SEED)}.yaml") if is_seed(source) else source
        beside = name.with_suffix(".better.yaml")
        return cls(source=source, out=None if in_place else out or beside)

    def check(self, pool: Path) -> None:
        """Check that the target can be written, before anything is spent.

        Raises:
            InputError: A file is in the way, the folder is not writable, or the source cannot be
                changed in place.
        """
        if self.out is None:
            refuse_unclean(self.source, besides=[pool])
            refuse_unwritable(self.source.resolve())
        elif self.out.exists():
            raise InputError(
                f"{self.out} already exists and is not overwritten. Name another: --out."
            )
        else:
            refuse_unwritable(self.out)

    def give(self, status: RaceResult, pool: Pool, catalogue: Catalogue) -> str:
        """Write the better team, and return a line that says where; "" if there is none."""
        word = status.last_word
        if word is None or not status.is_better:
            return ""
        original = load_source(str(self.source), catalogue)
        winner, raced = status.winner.member, status.entrants[0].member
        team = replace(pool.member(winner).team, name=original.name, lineage=None)
        if self.out is not None:
            write_new(self.out, team)
            return f"Written to {self.out}. Compare: mas-diff {self.source} {self.out}"
        if original.content_hash not in {
            pool.member(name).team.content_hash for name in (raced, winner)
        }:
            raise InputError(
                f"{self.source} is no longer the team that raced, and is not overwritten. The"
                f" better team is in the pool: {winner}. Write it to another file: --out."
            )
        old, new = word.means
        message = gain_message(
            original.name,
            edit_words(original, team),
            [reason for _, reason in status.steps_to(status.leader)],
            Gain(
                original=old,
                new=new,
                gain=word.gain,
                interval=(word.low, word.high),
                tasks=len(word.tasks),
                calls=status.spent.calls,
                usd=None if status.spent.unpriced_calls else status.spent.usd,
            ),
        )
        text = self.source.read_bytes().decode()
        folder = self.source.resolve().parent
        text = rewritten(text, team, catalogue, file=str(self.source), folder=folder)
        commit_in_place(self.source, text, message)
        return f"Changed {self.source} as one commit: git show"
