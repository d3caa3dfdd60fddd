"""Foreign repositories, read without their configuration.

A repository's configuration and attributes can name programs that git runs: filters, text
converters, merge drivers, hooks, monitors, pagers. So git never runs in such a repository. It runs
in a directory of our own, whose configuration is ours and whose objects are the repository's; refs,
index and exclusions are copied into it as data, and files of the working copy are read
through `schema.values.beneath`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Generator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from ...schema.values import beneath
from ...schema.values.errors import AgentError, JailError
from ...schema.values.problems import reason_of
from .git import git

_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
"""The id of a commit, which names its content."""
MOST_ENTRIES = 2_000_000
"""The most files among a repository's objects, and in its working copy."""
MOST_REFS = 100_000
LARGEST_PART = 1 << 29
"""Bytes of an index, or of any other file of a repository's own that is copied whole."""
MOST_BYTES = 8 << 30
"""The most bytes of a working copy's files that are copied."""
LOCK_SECONDS = 5.0
"""The longest wait for a process of git that changes the index of a working copy."""
ELSEWHERE = "objects/info/alternates", "objects/info/http-alternates"
EXCLUDED = "info/exclude"
TASK, MANIFEST = "task.json", "run.json"
"""Files that identify a run's folder, which holds the answer to its task."""
_BRANCH = re.compile(rb"ref: refs/heads/([^\x00-\x20~^:?*[\\\x7f]{1,250})\s*")
_DELETING = re.compile(r"\d+\t[1-9]")
_DETACHED = re.compile(rb"[0-9a-f]{40,64}\s*")


class IndexLocked(AgentError):
    """Another process of git changes the working copy's index, so nothing is committed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Repository:
    """A repository that git may safely read.

    Attributes:
        own: Its git directory; of one of several working copies, that one's.
        common: The git directory with its objects and refs.
        folder: Our git directory, which refers to its objects.
        branch: Its current branch; empty if it has none.
        form: The format of its object names: `sha1` or `sha256`.
    """

    source: Path
    own: Path
    common: Path
    folder: Path
    branch: str
    form: str

    @classmethod
    @contextmanager
    def open(cls, source: Path) -> Generator[Repository]:
        """Open a git directory of ours with a repository's objects and refs, for a `with` block.

        Args:
            source: A working copy, or a bare repository.

        Raises:
            AgentError: It is no repository, or a part of it is a link or lies elsewhere.
            JailError: There is no room for it.
        """
        from ..jail.scratch import ScratchFolder

        with ScratchFolder("git") as scratch:
            try:
                repository = _opened(source.resolve(), scratch.path / "git")
            except (OSError, ValueError) as error:
                words = reason_of(error)
                raise AgentError(f"{source} can't be read as a git repository: {words}.") from None
            yield repository

    @classmethod
    @contextmanager
    def around(cls, inside: Path) -> Generator[Repository | None]:
        """Open the repository whose working copy contains a folder; None if there is none.

        Args:
            inside: The folder, which need not exist yet.

        Raises:
            JailError: The same.
        """
        places = (inside.resolve(), *inside.resolve().parents)
        source = next((place for place in places if os.path.lexists(place / ".git")), None)
        if source is None:
            yield None
            return
        with cls.open(source) as repository:
            yield repository

    def commit_of(self, revision: str) -> str:
        """Return the id of a commit.

        Raises:
            AgentError: There is no commit of this name.
        """
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        line = self._git(*words, accepted=(0, 1, 128)).strip()
        if not line:
            raise AgentError(f"{self.source} has no commit {revision!r}.")
        return line

    def state(self, revision: str) -> str:
        """Return the id of a commit, or of a tree of the working copy if no commit is given."""
        if revision:
            return self.commit_of(revision)
        self._in(self.source, "add", "--all")
        return self._git("write-tree").strip()

    def check_out(self, revision: str, folder: Path) -> None:
        """Make an empty folder a working copy of one commit, without any commit before or after it.

        If a fault is to be repaired, the commit that repairs it may be in the repository too,
        and no agent may find it.
        """
        commit = self.commit_of(revision)
        self._begin(folder, [commit], history=False, branch="")
        git(folder, "reset", "--quiet", "--hard")

    def copy(
        self,
        folder: Path,
        *,
        revision: str = "",
        history: bool = False,
        without: Collection[Path] = (),
    ) -> None:
        """Make a folder a working copy whose last commit holds everything to work on.

        Args:
            revision: The commit whose files it has. Empty: the working copy's current files.
            history: Whether to include the commits before it.
            without: Files to leave out, also as copies under other names. Folders of runs are left
                out, too.

        Raises:
            AgentError: It cannot be copied.
        """
        try:
            self._copy(folder, revision, history=history, without=without)
        except (OSError, ValueError) as error:
            raise AgentError(f"{self.source} can't be copied: {reason_of(error)}.") from None

    def is_ignored(self, path: Path) -> bool:
        """Return whether the working copy's exclusions match a path in it."""
        relative = path.resolve().relative_to(self.source).as_posix()
        words = ("check-ignore", "-z", "--stdin")
        return bool(self._in(self.source, *words, text=relative, accepted=(0, 1)))

    def text(self, commit: str, path: str) -> str | None:
        """Read a file of a commit; None if the commit has none at that path.

        Raises:
            AgentError: The repository lacks a part of the commit.
        """
        names = self._git("ls-tree", "--full-tree", "--name-only", "-z", commit, "--", path)
        return self._git("cat-file", "blob", f"{commit}:{path}") if names else None

    @property
    def head(self) -> str:
        """The id of the working copy's commit; empty if there is none yet."""
        return self._git("rev-parse", "--verify", "--quiet", "HEAD", accepted=(0, 1)).strip()

    def shortening(self, paths: Sequence[str]) -> Sequence[tuple[str, str]]:
        """Return the commits that removed lines from files: id and subject, the latest first.

        Merges and the first commit are left out.

        Args:
            paths: The files, or folders of them, in the repository.
        """
        form = ("--no-merges", "--no-renames", "--no-ext-diff", "--numstat", "--format=%x00%H %s")
        commits = self._git("log", *form, "HEAD", "--", *paths).split("\0")[1:]
        heads = [commit.split("\n", 1) for commit in commits]
        return [
            (head[:at], head[at + 1 :])
            for head, *rest in heads
            if any(_DELETING.match(line) for line in "".join(rest).splitlines())
            for at in [head.index(" ")]
        ]

    def uncommitted(self) -> Sequence[str]:
        """Return the files that differ from the last commit, in the working copy or staged.

        Untracked files are not among them.
        """
        index = {"GIT_INDEX_FILE": str(self.folder / "theirs")}
        refresh = ("update-index", "-q", "--refresh", "--ignore-submodules")
        self._in(self.source, *refresh, accepted=(0, 1), environment=index)
        words = ("diff-index", "-z", "--name-only", "--ignore-submodules", "HEAD")
        names = [
            self._in(self.source, *words, *more, environment=index) for more in ((), ("--cached",))
        ]
        return sorted({*"".join(names).split("\0")[:-1]})

    def commit(self, folder: Path, message: str) -> None:
        """Commit the changes below a folder of the working copy, and nothing else.

        A person's staged changes stay staged. No filter, hook or signature of the repository's
        takes part.

        Raises:
            IndexLocked: Another process holds the index. Neither index nor branch has changed.
            AgentError: The branch has moved meanwhile. The changes are staged.
        """
        inside = folder.resolve().relative_to(self.source).as_posix()
        objects = {"GIT_OBJECT_DIRECTORY": str(self.common / "objects")}
        before = self.head
        if before:
            self._git("read-tree", before)
        taking = ("add", "--all", "--", inside)
        self._in(self.source, *taking, environment=objects)
        tree = self._git("write-tree", environment=objects).strip()
        if before and tree == self._git("rev-parse", f"{before}^{{tree}}").strip():
            return
        onto = ("-p", before) if before else ()
        words = ("commit-tree", tree, *onto, "-m", message)
        line = self._git(*words, environment=objects).strip()
        index = {"GIT_INDEX_FILE": str(self.own / "index")}
        if not (self.own / "index").is_symlink():
            # Before the branch moves: the same call then also completes what a kill broke off.
            self._once_unlocked(*taking, environment={**objects, **index})
        self._move(before, line)

    def _once_unlocked(self, *words: str, environment: Mapping[str, str]) -> None:
        """Run git on the working copy's own index, when no other process holds it."""
        deadline = monotonic() + LOCK_SECONDS
        lock = self.own / "index.lock"
        while True:
            try:
                self._in(self.source, *words, environment=environment)
            except AgentError as error:
                if "index.lock': File exists" not in str(error):
                    raise
            else:
                return
            if monotonic() >= deadline:
                raise IndexLocked(
                    f"{lock}: another process of git changes this repository. Let it end (or remove"
                    " the file if none runs), and repeat the command."
                )
            sleep(0.1)

    def _move(self, before: str, commit: str) -> None:
        """Move the working copy's branch to a commit, as git itself does it."""
        is_named = bool(self.branch)
        place, name = (self.common, f"refs/heads/{self.branch}") if is_named else (self.own, "HEAD")
        try:
            with beneath.parent_of(place, name, make=True) as (folder, last):
                beneath.write(folder, f"{last}.lock", f"{commit}\n".encode())
                try:
                    # Under git's own lock file: a commit that a person makes now is not lost.
                    _must_be(before, place, name)
                    os.replace(f"{last}.lock", last, src_dir_fd=folder, dst_dir_fd=folder)
                except BaseException:
                    os.unlink(f"{last}.lock", dir_fd=folder)
                    raise
        except (OSError, ValueError) as error:
            raise AgentError(f"{place / name} can't be written: {error}.") from None

    def _copy(
        self, folder: Path, revision: str, *, history: bool, without: Collection[Path]
    ) -> None:
        folder.mkdir()
        parent = self.commit_of(revision or "HEAD")
        self._git("read-tree", parent)
        tracked = self._tracked()
        if revision:
            names = [*tracked]
            self._in(folder, "checkout-index", "--all", "--quiet")
        else:
            names = self._take(folder, tracked)
        hidden = self._hidden(folder, names, without)
        for name in hidden:
            _remove(folder, name)
        self._in(folder, "add", "--all")
        # What the commit has and nobody is to see comes along with no commit.
        before = [] if hidden & tracked.keys() else [parent]
        onto = [word for line in before for word in ("-p", line)]
        tree = self._git("write-tree").strip()
        state = self._git("commit-tree", tree, *onto, "-m", "The task's state.").strip()
        branch = "" if revision else self.branch
        self._begin(folder, [state, *before], history=history, branch=branch)
        git(folder, "reset", "--quiet", "--mixed")

    def _begin(self, folder: Path, commits: Sequence[str], *, history: bool, branch: str) -> None:
        """Create a repository in a folder that ends with a commit, and has no other object.

        Args:
            commits: The last commit, and the earlier ones to include.
            history: Whether to include all earlier commits.
            branch: Its branch; empty: none.
        """
        git(folder, "init", "--quiet", f"--object-format={self.form}")
        control = folder / ".git"
        walk = () if history else ("--no-walk",)
        listed = self._git("rev-list", "--objects", *walk, *commits)
        ids = "".join(f"{line.partition(' ')[0]}\n" for line in listed.splitlines())
        pack = str(control / "objects/pack/pack")
        self._git("pack-objects", "-q", "--window=0", "--threads=1", pack, text=ids)
        if not history:
            (control / "shallow").write_text(f"{commits[-1]}\n", encoding="ascii")
        if branch:
            git(folder, "symbolic-ref", "HEAD", f"refs/heads/{branch}")
        git(folder, "update-ref", *(() if branch else ("--no-deref",)), "HEAD", commits[0])

    def _take(self, folder: Path, tracked: Mapping[str, str]) -> list[str]:
        """Copy the working copy's files that git tracks or would add, and return their names."""
        self._refuse_odd()
        absent, room = list[str](), MOST_BYTES
        staged = self._staged()
        names = [*dict.fromkeys((*tracked, *staged, *self._untracked()))]
        with beneath.open_folder(self.source) as source, beneath.open_folder(folder) as target:
            for name in names:
                if tracked.get(name) == "160000":  # another repository's place
                    beneath.make_folder(target, name)
                    continue
                size = beneath.copy(source, name, target)
                if size is None and staged.get(name) == "S" and name in tracked:
                    absent.append(name)  # It is left out of the working copy alone.
                room -= size or 0
                if room < 0:
                    raise ValueError(f"its files exceed {MOST_BYTES} bytes in total")
        if absent:
            text = "\0".join(absent)
            self._in(folder, "checkout-index", "--quiet", "-z", "--stdin", text=text)
        return names

    def _refuse_odd(self) -> None:
        """Refuse lists of exclusions on which git would block."""
        for node in beneath.walk(self.source, most=MOST_ENTRIES, without=".git"):
            if node.path.endswith(".gitignore") and node.kind == "other":
                raise ValueError(f"{node.path!r} is not a regular file")

    def _hidden(
        self, folder: Path, names: Collection[str], without: Collection[Path]
    ) -> AbstractSet[str]:
        """Return the files to leave out of a copy: named ones, their copies, and runs' folders."""
        paths = {path.resolve() for path in without}
        contents = {path.read_bytes() for path in paths if path.is_file()}
        sizes = {len(content) for content in contents}
        here = {
            name
            for name in names
            if self.source / name in paths
            or (_size(folder / name) in sizes and _part(folder, name) in contents)
        }
        whole = {*names}
        runs = [
            name.removesuffix(TASK)
            for name in names
            if name.endswith(f"/{TASK}") and f"{name.removesuffix(TASK)}{MANIFEST}" in whole
        ]
        return here | {name for name in names if any(map(name.startswith, runs))}

    def _tracked(self) -> Mapping[str, str]:
        """Return the mode of each file of the commit that was read."""
        texts = self._git("ls-files", "-z", "--stage").split("\0")[:-1]
        return {name.partition("\t")[2]: name[:6] for name in texts}

    def _staged(self) -> Mapping[str, str]:
        """Return the tag of each file of the working copy's own index: `S` if it is skipped."""
        index = {"GIT_INDEX_FILE": str(self.folder / "theirs")}
        if not (self.folder / "theirs").exists():
            return {}
        try:
            words = self._git("ls-files", "-z", "-t", "--cached", environment=index)
        except AgentError:  # It is damaged, or in parts: HEAD says what there is.
            return {}
        return {part[2:]: part[0] for part in words.split("\0")[:-1]}

    def _untracked(self) -> list[str]:
        """Return the files of the working copy that git would add."""
        words = ("ls-files", "-z", "--others", "--exclude-standard")
        names = self._in(self.source, *words).split("\0")[:-1]
        return [name for name in names if not name.endswith("/")]  # which is a repository

    def _in(self, folder: Path, *arguments: str, **options: Any) -> str:
        return git(
            folder, f"--git-dir={self.folder}", f"--work-tree={folder}", *arguments, **options
        )

    def _git(self, *arguments: str, **options: Any) -> str:
        return git(self.folder, f"--git-dir={self.folder}", *arguments, **options)


def state_of(source: Path, revision: str) -> str:
    """Return the id of the content that a task takes from a repository, wherever that lies.

    Args:
        source: A working copy, or a bare repository.
        revision: The commit. Empty: the working copy's current files.

    Returns:
        The id of the commit or of the tree; the path if it cannot be read.
    """
    if _COMMIT.fullmatch(revision):
        return revision
    try:
        with Repository.open(source) as repository:
            return repository.state(revision)
    except (AgentError, JailError):  # which the run of the task tells
        return str(source.resolve())


def _opened(source: Path, folder: Path) -> Repository:
    own, common = _places(source)
    form = _form(common)
    for name in ELSEWHERE:
        if os.path.lexists(common / name):
            raise ValueError(
                f"its objects are in another repository ({name}). Use a full clone of it"
            )
    _refuse_links(common)
    head = beneath.read(own, "HEAD", 4096)
    branch = _BRANCH.fullmatch(head)
    if branch is None and not _DETACHED.fullmatch(head):
        raise ValueError("its HEAD names neither a branch nor a commit")
    version = "1\n[extensions]\n\tobjectFormat = sha256" if form == "sha256" else "0"
    folder.mkdir()
    written = {
        "HEAD": head,
        "config": f"[core]\n\trepositoryFormatVersion = {version}\n".encode(),
        "objects/info/alternates": os.fsencode(f"{common / 'objects'}\n"),
        "refs/.keep": b"",
    }
    for name, content in written.items():
        beneath.write(folder, name, content)
    for place, name, copy_name in (
        (common, "packed-refs", "packed-refs"),
        (common, "shallow", "shallow"),
        (common, EXCLUDED, EXCLUDED),
        (own, "index", "theirs"),
    ):
        content = _part(place, name)
        if content is not None:
            beneath.write(folder, copy_name, content)
    _copy_refs(common, folder)
    name = os.fsdecode(branch[1]) if branch else ""
    return Repository(source=source, own=own, common=common, folder=folder, branch=name, form=form)


def _places(source: Path) -> tuple[Path, Path]:
    """Return the git directory of a working copy, and the one that it shares with others."""
    with beneath.open_folder(source) as folder:
        if beneath.is_folder(folder, ".git"):
            return source / ".git", source / ".git"
        pointer = _part(source, ".git")
        if pointer is None:
            if os.path.lexists(source / ".git"):
                raise ValueError("its .git is a link")
            return source, source
    own = source / os.fsdecode(pointer.removeprefix(b"gitdir:").strip())
    back, shared = _part(own, "gitdir"), _part(own, "commondir")
    # Only the owner of that repository can have written there that this working copy is its own.
    if back is None or shared is None or source / ".git" != source / os.fsdecode(back.strip()):
        raise ValueError("its .git points outside it. Use a clone of it")
    return own, (own / os.fsdecode(shared.strip())).resolve()


def _form(common: Path) -> str:
    """Return the format of object names, and refuse settings that git would need to know."""
    config = _part(common, "config") or b""
    if b"extensions" not in config.lower():
        return "sha1"
    words = ("config", "--file", "-", "--no-includes", "--null", "--list")
    text = git(Path("/"), *words, text=config.decode("utf-8", "surrogateescape"))
    parts = (part.partition("\n") for part in text.split("\0")[:-1])
    values = {name: value for name, _, value in parts}
    storage = values.get("extensions.refstorage", "files")
    if storage != "files":
        raise ValueError(f"its refs are stored as {storage!r}. Use a clone that stores files")
    return "sha256" if values.get("extensions.objectformat", "").lower() == "sha256" else "sha1"


def _refuse_links(common: Path) -> None:
    """Check that all objects are regular files in real folders."""
    with beneath.open_folder(common, ("objects",)) as objects:
        for node in beneath.walk(objects, most=MOST_ENTRIES):
            if node.kind in {"link", "other"}:
                raise ValueError(f"objects/{node.path} is not a regular file")


def _copy_refs(common: Path, folder: Path) -> None:
    """Copy the refs that are files, except those that replace objects."""
    with beneath.open_folder(common, ("refs",)) as refs:
        entries = [*beneath.walk(refs, most=MOST_REFS)]
    for entry in entries:
        name = f"refs/{entry.path}"
        if entry.kind == "file" and not entry.path.startswith("replace/"):
            content = _part(common, name)
            if content is not None:
                beneath.write(folder, name, content)


def _must_be(commit: str, place: Path, name: str) -> None:
    there = _part(place, name)
    if there is not None and there.strip() != commit.encode():
        raise AgentError(f"{place / name} changed in the meantime. Try again.")


def _size(path: Path) -> int:
    """Return the bytes of a file; -1 if there is none."""
    with suppress(OSError):
        return path.lstat().st_size
    return -1


def _remove(folder: Path, name: str) -> None:
    with suppress(OSError), beneath.parent_of(folder, name) as (inner, last):
        beneath.remove(inner, last)


def _part(folder: Path, name: str) -> bytes | None:
    """Read a file of a git directory; None if it is no file."""
    try:
        return beneath.read(folder, name, LARGEST_PART)
    except OSError:
        return None
