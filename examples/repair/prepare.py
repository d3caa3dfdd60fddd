"""Make a git working copy of a released package that has a bug.

    python examples/repair/prepare.py FOLDER

fetches the source of inflection 0.3.1 with the package client of this machine and commits it in
FOLDER/inflection. `pluralize("passerby")` gives "passerbys" there.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

RELEASE = "inflection==0.3.1"
FETCH = ("download", "--quiet", "--no-deps", "--no-binary", ":all:")


def prepare(folder: Path) -> Path:
    """Fetch the release into a fresh repository and return its folder."""
    with tempfile.TemporaryDirectory() as fetched:
        pip = ["uvx", "--quiet", "--with", "setuptools", "pip"]
        subprocess.run([*pip, *FETCH, "--dest", fetched, RELEASE], check=True)
        (archive,) = Path(fetched).glob("*.tar.gz")
        repository = folder / "inflection"
        unpack(archive, repository)
    commit(repository)
    return repository


def unpack(archive: Path, folder: Path) -> None:
    """Write an archive's plain files into a new folder, without the folder that holds them."""
    with tarfile.open(archive) as source:
        for member in source:
            name = Path(*Path(member.name).parts[1:])
            content = source.extractfile(member) if member.isfile() else None
            if content is not None and ".." not in name.parts:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content.read())


def commit(repository: Path) -> None:
    """Commit everything in a folder as the first state of a new repository."""
    who = ("-c", "user.name=example", "-c", "user.email=example@localhost")
    for arguments in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "-m", RELEASE)):
        subprocess.run(["git", *who, *arguments], cwd=repository, check=True)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    print(prepare(target))  # noqa: T201 - a script for people
