"""The offline repairs: real faults of released packages, told and tested in our own words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from platformdirs import user_cache_path

from ...schema.values.errors import InputError
from .instance import Instance, parse_instance
from .releases import Release, make_repository
from .working_copies import working_copy

INSTANCES = Path(__file__).with_name("instances")


@dataclass(frozen=True, kw_only=True, slots=True)
class OfflineRepair:
    """A repair and the release that has the fault."""

    instance: Instance
    release: Release

    def repository(self, folder: Path) -> Path:
        """Return the working copy to repair, below a folder; it is made where it is missing."""
        name = self.instance.instance_id
        return working_copy(
            folder / name,
            self.instance.base_commit,
            lambda new: make_repository(self.release, new),
        )


def offline_repairs() -> tuple[OfflineRepair, ...]:
    """Read all offline repairs, in the order of their names."""
    return tuple(_read(path) for path in sorted(INSTANCES.glob("*.yaml")))


def find_repair(name: str) -> OfflineRepair:
    """Find an offline repair by its instance's id.

    Raises:
        InputError: There is none.
    """
    known = {
        offline_repair.instance.instance_id: offline_repair for offline_repair in offline_repairs()
    }
    if name not in known:
        raise InputError(f"no offline repair is called {name!r}. Known: {', '.join(known)}.")
    return known[name]


def repositories_dir() -> Path:
    """Return the folder for repositories where the user names none."""
    return user_cache_path("coterie") / "repair"


def _read(path: Path) -> OfflineRepair:
    fields: Mapping[str, object] = yaml.safe_load(path.read_text(encoding="utf-8"))
    release = fields["release"]
    assert isinstance(release, dict)  # noqa: S101 - our own files, which the tests read
    return OfflineRepair(instance=parse_instance(fields, path.name), release=Release(**release))
