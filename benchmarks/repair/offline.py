"""The offline repairs: real faults of released packages, described and tested in our own words."""

from __future__ import annotations

import sys
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import yaml
from platformdirs import user_cache_path

from ...runtime.local.package_client import find_uv, run_watched
from ...runtime.local.packaged import check
from ...schema.values.errors import InputError
from .instance import Instance, parse_instance
from .working_copies import commit_all, working_copy

INSTANCES = Path(__file__).with_name("instances")


@dataclass(frozen=True, kw_only=True, slots=True)
class OfflineRepair:
    """A repair, with the release that has the fault."""

    instance: Instance
    release: Release

    def repository(self, folder: Path) -> Path:
        """Return the working copy to repair, below a folder; create it if missing."""
        name = self.instance.instance_id
        return working_copy(
            folder / name,
            self.instance.base_commit,
            lambda new: make_repository(self.release, new),
        )


def offline_repairs() -> tuple[OfflineRepair, ...]:
    """Read all offline repairs, sorted by name."""
    return tuple(_read(path) for path in sorted(INSTANCES.glob("*.yaml")))


def find_repair(name: str) -> OfflineRepair:
    """Return an offline repair by its instance's id.

    Raises:
        InputError: There is none.
    """
    repairs = {
        offline_repair.instance.instance_id: offline_repair for offline_repair in offline_repairs()
    }
    if name not in repairs:
        raise InputError(f"no offline repair is called {name!r}. Known: {', '.join(repairs)}.")
    return repairs[name]


def repositories_dir() -> Path:
    """Return the default folder for repositories."""
    return user_cache_path("coterie") / "repair"


def _read(path: Path) -> OfflineRepair:
    fields: Mapping[str, object] = yaml.safe_load(path.read_text(encoding="utf-8"))
    release = fields["release"]
    assert isinstance(release, dict)  # noqa: S101 - our own files, which the tests read
    return OfflineRepair(instance=parse_instance(fields, path.name), release=Release(**release))


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """A released package's source distribution."""

    requirement: str
    sha256: str


def make_repository(release: Release, folder: Path) -> None:
    """Download a release and commit its files as the only state of a new repository.

    The package client of this machine downloads it, with its own settings. It first verifies the
    checksum, and then asks the package's build backend for the package's name.

    Args:
        folder: An empty folder.
    """
    with tempfile.TemporaryDirectory(prefix="coterie-release-") as workplace:
        _unpack(_fetch(release, Path(workplace)), folder)
    commit_all(folder, release.requirement)


def _fetch(release: Release, workplace: Path) -> Path:
    wanted = workplace / "wanted.txt"
    wanted.write_text(f"{release.requirement} --hash=sha256:{release.sha256}\n", encoding="ascii")
    failures: list[str] = []
    for client in _clients():
        command = [*client, "download", "--quiet", "--no-deps", "--require-hashes"]
        name = release.requirement.split("==", 1)[0]
        sources = ["--no-binary", name, "--dest", str(workplace), "--requirement", str(wanted)]
        try:
            run_watched([*command, *sources], workplace, lambda _bytes: None)
        except InputError as error:
            failures.append(f"{' '.join(client[-3:])}: {error}")
            continue
        (archive,) = workplace.glob("*.tar.gz")
        check(archive, release.sha256, f"the source of {release.requirement}")
        return archive
    reasons = failures or [
        "neither uv nor pip is installed. Install uv, or name it in the variable UV."
    ]
    raise InputError("\n  ".join([f"{release.requirement} could not be fetched:", *reasons]))


def _clients() -> list[list[str]]:
    uv = find_uv()
    with_uv = [[uv, "tool", "run", "--quiet", "pip"]] if uv else []
    with_pip = [[sys.executable, "-m", "pip"]] if find_spec("pip") else []
    return [*with_uv, *with_pip]


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack the plain files of an archive, without the folder around them."""
    with tarfile.open(archive) as source:
        for member in source:
            name = Path(*Path(member.name).parts[1:])
            content = source.extractfile(member) if member.isfile() else None
            if content is None or ".." in name.parts or ".git" in name.parts:
                continue
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.read())
            target.chmod(0o755 if member.mode & 0o100 else 0o644)
