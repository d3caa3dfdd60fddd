"""Source distributions of released packages, pinned, as repositories to repair."""

from __future__ import annotations

import sys
import tarfile
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ...runtime.local.package_client import find_uv, run_watched
from ...runtime.local.packaged import check
from ...schema.values.errors import InputError
from .working_copies import commit_all


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """A released package's source distribution."""

    requirement: str
    sha256: str


def make_repository(release: Release, folder: Path) -> None:
    """Fetch a release and commit its files as the only state of a new repository.

    The package client of this machine fetches it, with its own settings. It checks the checksum
    before anything else, and then asks the package's build backend what the package is called.

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
    """Write an archive's plain files, without the folder that holds them all."""
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
