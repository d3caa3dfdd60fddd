"""Repositories as a stranger may make them: settings that name programs, links of all kinds."""

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..support.repositories import as_config

COMMANDS = (
    "alias.diff", "alias.log", "alias.ls-files", "alias.status",
    "browser.x.cmd", "core.alternateRefsCommand", "core.askPass", "core.editor", "core.fsmonitor",
    "core.gitProxy", "core.pager", "core.sshCommand", "credential.helper", "credential.x.helper",
    "diff.evil.command", "diff.evil.textconv", "diff.external", "difftool.x.cmd", "difftool.x.path",
    "filter.evil.clean", "filter.evil.process", "filter.evil.smudge",
    "gpg.openpgp.program", "gpg.program", "gpg.ssh.defaultKeyCommand", "gpg.ssh.program",
    "gpg.x509.program", "hook.x.command", "imap.tunnel", "init.templateDir",
    "instaweb.httpd", "interactive.diffFilter", "man.x.cmd", "man.x.path",
    "merge.default", "merge.evil.driver", "mergetool.x.cmd", "mergetool.x.path",
    "pack.packObjectsHook", "pager.diff", "pager.log", "pager.status",
    "receive.procReceiveRefs", "remote.origin.proxy", "remote.origin.receivepack",
    "remote.origin.uploadpack", "remote.origin.vcs", "sendemail.sendmailCmd",
    "sendemail.smtpServer", "sequence.editor", "submodule.x.update", "tar.x.command",
    "trailer.x.cmd", "trailer.x.command", "uploadpack.packObjectsHook", "web.browser",
)  # fmt: skip
"""Settings of git that name a program."""
OTHERS = {
    "commit.gpgSign": "true",
    "core.bare": "false",
    "core.precomposeUnicode": "true",
    "diff.evil.binary": "false",
    "extensions.partialClone": "origin",
    "fetch.recurseSubmodules": "true",
    "filter.evil.required": "true",
    "protocol.allow": "always",
    "protocol.ext.allow": "always",
    "remote.origin.promisor": "true",
    "submodule.recurse": "true",
    "tag.gpgSign": "true",
}
"""Settings that have git run those programs more often."""
HOOKS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-checkout", "post-commit",
    "post-index-change", "post-merge", "post-rewrite", "pre-auto-gc", "pre-commit",
    "pre-merge-commit", "pre-push", "pre-receive", "prepare-commit-msg", "reference-transaction",
    "update",
)  # fmt: skip
ATTRIBUTES = "* filter=evil diff=evil merge=evil\n"
PLACES = ("config", "config.worktree", "include", "includeIf", "hooks", "hooksPath", "worktree")
"""Where a setting may stand."""
WHERE = (".gitattributes", "src/.gitattributes", ".git/info/attributes", "committed")
"""Where attributes may stand that have git use filters and drivers."""


def git(folder: Path, *words: str) -> str:
    """Run git as whoever made the repository did."""
    who = ["-c", "user.name=stranger", "-c", "user.email=stranger@localhost"]
    return subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def honest(folder: Path) -> Path:
    """Make a repository with two commits, a change that is not committed, and a new file."""
    shutil.copytree(_template(), folder, symlinks=True)
    return folder


@functools.cache
def _template() -> Path:
    """Make it once."""
    folder = Path(tempfile.mkdtemp(prefix="repository-")) / "honest"
    atexit.register(shutil.rmtree, folder.parent)
    (folder / "src").mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    for text in ("one\n", "two\n"):
        (folder / "src/code.py").write_text(text)
        (folder / "read.me").write_text(text)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message", text)
    (folder / "src/code.py").write_text("three\n")
    (folder / "new.txt").write_text("new\n")
    return folder


def armed(folder: Path, place: str, where: str, program: str) -> Path:
    """Make a repository in which every setting that names a program names this one."""
    honest(folder)
    settings = dict.fromkeys(COMMANDS, program) | OTHERS
    settings["remote.origin.url"] = f"ext::{program} %S"
    settings["submodule.x.update"] = f"!{program}"
    control, text = folder / ".git", as_config(settings)
    if where == "committed":
        (folder / ".gitattributes").write_text(ATTRIBUTES)
        git(folder, "add", ".gitattributes")
        git(folder, "commit", "--quiet", "--message", "attributes")
    else:
        (folder / where).parent.mkdir(exist_ok=True)
        (folder / where).write_text(ATTRIBUTES)
    match place:
        case "config":
            _append(control / "config", text)
        case "config.worktree":
            _append(control / "config", "[extensions]\n\tworktreeConfig = true\n")
            (control / "config.worktree").write_text(text)
        case "include":
            (control / "more").write_text(text)
            _append(control / "config", "[include]\n\tpath = more\n")
        case "includeIf":
            (control / "more").write_text(text)
            _append(control / "config", '[includeIf "gitdir:**"]\n\tpath = more\n')
        case "hooks":
            _hooks(control / "hooks", program)
        case "hooksPath":
            _hooks(folder / "hooks", program)
            _append(control / "config", "[core]\n\thooksPath = hooks\n")
        case "worktree":
            _append(control / "config", f"[core]\n\tworktree = {folder / 'src'}\n{text}")
        case _:
            raise ValueError(place)
    (folder / "src/code.py").write_text("four\n")  # so that git's index is no excuse to look away
    return folder


def _append(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


def _hooks(folder: Path, program: str) -> None:
    folder.mkdir(exist_ok=True)
    for name in HOOKS:
        (folder / name).write_text(f"#!/bin/sh\nexec {program}\n")
        (folder / name).chmod(0o755)


@dataclass(frozen=True, kw_only=True)
class Linked:
    """A way for a repository to lead out of itself.

    Attributes:
        make: Does it to an honest repository; told the folder outside.
    """

    name: str
    make: Callable[[Path, Path], None]


def links() -> Iterator[Linked]:
    """Yield the ways to lead out of a repository: each part of it, as each kind of link."""
    for part in GIT_PARTS:
        for kind, result in KINDS.items():
            yield Linked(name=f".git/{part} as {kind}", make=_replaced(f".git/{part}", result))
    for part in ("src", "src/code.py", "read.me", "new.txt", ".gitignore", ".gitattributes"):
        for kind, result in KINDS.items():
            yield Linked(name=f"{part} as {kind}", make=_replaced(part, result))
    for bits in ("assume-unchanged", "skip-worktree", "both"):
        for outside in ("relative", "absolute", "up"):
            for kind in ("link to a folder", "link to a file", "link to a link"):
                yield Linked(name=f"{bits} {outside} {kind}", make=_swapped(bits, outside, kind))


def elsewhere() -> list[Linked]:
    """Return the two ways by which git itself says that a part lies elsewhere."""
    return [
        Linked(name="alternates", make=_alternates),
        Linked(name="pointer", make=_pointer),
    ]


GIT_PARTS = (
    "HEAD", "index", "config", "refs", "refs/heads", "refs/heads/main", "objects", "objects/info",
    "objects/pack", "info", "info/exclude", "packed-refs", "shallow", "logs", "commondir",
)  # fmt: skip


def _replaced(part: str, function: Callable[[Path, Path], None]) -> Callable[[Path, Path], None]:
    def make(folder: Path, outside: Path) -> None:
        path = folder / part
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() and not path.is_symlink():
            path.rename(outside / "taken")
        else:
            path.unlink(missing_ok=True)
        function(path, outside)

    return make


def _to_file(path: Path, outside: Path) -> None:
    path.symlink_to(outside / "secret")


def _to_folder(path: Path, outside: Path) -> None:
    path.symlink_to(outside)


def _to_taken(path: Path, outside: Path) -> None:
    path.symlink_to(outside / "taken")


def _to_itself(path: Path, outside: Path) -> None:
    del outside
    path.symlink_to(path.name)


def _pipe(path: Path, outside: Path) -> None:
    del outside
    os.mkfifo(path)


KINDS: Mapping[str, Callable[[Path, Path], None]] = {
    "a link to a file": _to_file,
    "a link to a folder": _to_folder,
    "a link to what it was": _to_taken,
    "a link to itself": _to_itself,
    "a pipe": _pipe,
}


def _swapped(bits: str, outside: str, kind: str) -> Callable[[Path, Path], None]:
    """Have git take a tracked link for unchanged, where there is a folder with a new file."""

    def make(folder: Path, out: Path) -> None:
        target = {"relative": os.path.relpath(out, folder), "absolute": str(out)}.get(outside)
        target = target or f"../{os.path.relpath(out, folder.parent)}"
        if kind == "link to a file":
            target += "/secret"
        (folder / "d").symlink_to(target)
        if kind == "link to a link":
            (folder / "e").symlink_to("d")
        name = "e" if kind == "link to a link" else "d"
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message", "a link")
        for bit in ("assume-unchanged", "skip-worktree"):
            if bits in {bit, "both"}:
                git(folder, "update-index", f"--{bit}", name)
        (folder / name).unlink()
        (folder / name).mkdir()
        for written in ("secret", "planted", "taken"):
            (folder / name / written).write_text("a stranger's\n")

    return make


def _alternates(folder: Path, outside: Path) -> None:
    (folder / ".git/objects/info/alternates").write_text(f"{outside}\n")


def _pointer(folder: Path, outside: Path) -> None:
    (folder / ".git").rename(outside / "taken")
    (folder / ".git").write_text(f"gitdir: {outside / 'taken'}\n")
