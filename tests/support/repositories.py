"""Repositories of git, with and without a pool in them."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

__all__ = ["Repo", "as_config", "run_git"]

NAMES = ("NAME", "EMAIL")


def run_git(folder: Path, *words: str, code: int = 0) -> str:
    """Run git as somebody without settings of their own, who has our commands at hand."""
    who = {f"GIT_{word}_{what}": "ann@x" for word in ("AUTHOR", "COMMITTER") for what in NAMES}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["git", *words],
        cwd=folder,
        env={**os.environ, **who, "PATH": path, "GIT_CONFIG_GLOBAL": os.devnull},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, (words, done.stdout, done.stderr)
    return done.stdout


def as_config(settings: Mapping[str, str]) -> str:
    """Write settings of git as they stand in its file."""
    lines: list[str] = []
    for name, value in settings.items():
        section, _, key = name.rpartition(".")
        first, _, rest = section.partition(".")
        lines.append(f'[{first} "{rest}"]' if rest else f"[{first}]")
        lines.append(f'\t{key} = "{value}"')
    return "\n".join(lines) + "\n"


class Repo:
    """A repository of git with a pool in it.

    Args:
        pool: Where the pool is to be in it.
    """

    def __init__(self, folder: Path, pool: str = ".") -> None:
        self.folder = folder
        self.pool = folder / pool
        folder.mkdir(exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str, code: int = 0) -> str:
        return run_git(self.folder, *words, code=code)

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
