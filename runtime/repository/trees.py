"""The states of a repository that the agents of a run made, and how several are merged.

They are stored in a git directory that no agent sees, byte for byte: no attributes of a repository
or an agent make git write files in another way. git itself merges them, as commits whose parents
are what an agent started from, so the result is exactly that of `git merge`.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import threading
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...schema.values.errors import AgentError
from ...schema.values.terminal import on_one_line
from .git import git

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
    from pathlib import Path

    from .changes import RepositoryChange

LARGEST_PATCH = 16 << 20
"""Bytes."""
BYTE_BY_BYTE = "* -text !eol -ident -filter -working-tree-encoding !merge\n"
AS_BINARY = "* -diff\n"
AS_COPIED = ("-c", "core.trustCtime=false", "-c", "core.checkStat=minimal")
"""Identify a file with the one it was copied from, by its size and modification time."""
BASE = "base.index"
"""The ref of the task's state."""
SUBMODULE = "160000"
LONGEST_LABEL = 100
NEVER = {f"GIT_{who}_DATE": "1000000000 +0000" for who in ("AUTHOR", "COMMITTER")}
"""A date that is the same in every run, so that a commit's id depends on its content only."""
_SECTION = re.compile(r"^(?=diff --git )", re.MULTILINE)
_Version = tuple[str, str]
"""A file's mode and object."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Merged:
    """Merged changes.

    Attributes:
        conflicts: Conflicts to resolve, each as a line in git's words with the place of the other
            version: files hold both versions between conflict markers; those that cannot exist
            twice, under two names.
    """

    tree: str
    conflicts: tuple[str, ...] = ()


@dataclass(kw_only=True, eq=False)
class Trees:
    """The states of one repository.

    Attributes:
        base: The tree of the task's own state.
    """

    folder: Path
    base: str = ""
    _first: str = ""
    _applied: dict[str, str] = field(default_factory=dict[str, str])
    _merged: dict[tuple[RepositoryChange, ...], Merged] = field(
        default_factory=dict["tuple[RepositoryChange, ...]", Merged]
    )
    _commits: dict[tuple[RepositoryChange, ...], str] = field(
        default_factory=dict["tuple[RepositoryChange, ...]", str]
    )
    _at_work: threading.RLock = field(default_factory=threading.RLock)

    @classmethod
    def of(cls, state: Path, folder: Path) -> Trees:
        """Begin with the state of a working copy, all of which is in its last commit.

        Args:
            state: The working copy. It is only read, and has to stay in place.
            folder: Where to make the git directory.
        """
        form, head = git(state, "rev-parse", "--show-object-format", "HEAD").split()
        git(folder.parent, "init", "--quiet", "--bare", f"--object-format={form}", str(folder))
        objects = (state / ".git" / "objects").resolve()
        (folder / "objects" / "info" / "alternates").write_bytes(os.fsencode(f"{objects}\n"))
        (folder / "info").mkdir(exist_ok=True)
        (folder / "info" / "attributes").write_text(BYTE_BY_BYTE, encoding="ascii")
        (folder / "as_binary").write_text(AS_BINARY, encoding="ascii")
        trees = cls(folder=folder)
        index = {"GIT_INDEX_FILE": str(folder / BASE)}
        trees._git("read-tree", head, environment=index)
        trees.base = trees._written(state, index)
        trees._first = trees._commit(trees.base, "The task's state.")
        return trees

    def check_out(self, tree: str, path: Path) -> None:
        """Change a folder from the task's state to another one.

        Args:
            path: The folder. No two have the same name.
        """
        chosen = self._index_of(path)
        shutil.copyfile(self.folder / BASE, chosen["GIT_INDEX_FILE"])
        if tree != self.base:
            merging = (*AS_COPIED, "read-tree", "-m", "-u", self.base, tree)
            self._git(f"--work-tree={path}", *merging, folder=path, environment=chosen)

    def recorded(self, path: Path) -> str:
        """Return the tree of all files of a checked-out folder, except ignored ones.

        A file that was in it from the beginning is never ignored.
        """
        return self._written(path, self._index_of(path))

    def _index_of(self, path: Path) -> Mapping[str, str]:
        """Return the place of a folder's index, which the folder's agent cannot read."""
        return {"GIT_INDEX_FILE": str(self.folder / f"{path.name}.index")}

    def _written(self, path: Path, index: Mapping[str, str]) -> str:
        self._git(f"--work-tree={path}", "add", "--all", folder=path, environment=index)
        return self._git("write-tree", environment=index).strip()

    def patch(self, tree: str) -> str:
        """Return the difference of a state from the task's own, as a git diff.

        It is text, whatever the files contain. A file that is not UTF-8 text is in git's binary
        form.
        """
        shown = ("--binary", "--no-color", "--no-ext-diff", "--no-textconv", self.base, tree)
        text = self._git("diff", *shown, limit=LARGEST_PATCH)
        if _is_text(text):
            return text
        attributes = f"core.attributesFile={self.folder / 'as_binary'}"
        exact = self._git("-c", attributes, "diff", *shown, limit=LARGEST_PATCH)
        both = zip(_SECTION.split(text), _SECTION.split(exact), strict=True)
        return "".join(item if _is_text(item) else change for item, change in both)

    def differing(self, first: str, second: str) -> Sequence[str]:
        """Return the files in which two states differ."""
        text = self._git("diff-tree", "-r", "-z", "--name-only", "--no-renames", first, second)
        return text.split("\0")[:-1]

    def applied(self, patch: str) -> str:
        """Return the tree that results from applying a patch to the task's state."""
        if patch not in self._applied:
            with self._index() as index:
                shutil.copyfile(self.folder / BASE, index["GIT_INDEX_FILE"])
                words = ("apply", "--cached", "--whitespace=nowarn", "-")
                self._git(*words, text=patch, environment=index)
                self._applied[patch] = self._git("write-tree", environment=index).strip()
        return self._applied[patch]

    def merged(self, changes: Sequence[RepositoryChange]) -> Merged:
        """Merge changes in the given order, each into the result of those before it."""
        if not changes:
            return Merged(tree=self.base)
        with self._at_work:
            return self._merged_tree(tuple(changes))

    def _merged_tree(self, changes: tuple[RepositoryChange, ...]) -> Merged:
        if changes not in self._merged:
            if len(changes) == 1:
                self._merged[changes] = Merged(tree=self.applied(changes[0].patch))
            else:
                self._merged[changes] = self._into(changes[:-1], changes[-1])
        return self._merged[changes]

    def _into(self, before: tuple[RepositoryChange, ...], change: RepositoryChange) -> Merged:
        """Merge a change into those before it."""
        label = _label([item.agent for item in before])
        names = (label, change.agent if change.agent != label else f"{label}-2")
        labels = [f"by/{name}" for name in names]
        sides = (self._committed(side) for side in (before, (change,)))
        named = (f"update refs/{name} {side}\n" for name, side in zip(labels, sides, strict=True))
        self._git("update-ref", "--stdin", text="".join(named))
        try:
            text = self._git("merge-tree", "--write-tree", "-z", *labels, accepted=(0, 1))
        except AgentError as error:
            if "usage: git merge-tree" not in str(error):
                raise
            words = self._git("version").strip()
            both = f"{label} and {change.agent}"
            raise AgentError(
                f"the work of {both} can't be merged with {words}. Install git 2.38 or later."
            ) from None
        tree, conflicts = self._without_loss(text, labels)
        return Merged(tree=tree, conflicts=self._merged_tree(before).conflicts + conflicts)

    def _committed(self, changes: tuple[RepositoryChange, ...]) -> str:
        """Return the commit of changes, whose parents are the changes that they started from."""
        if not changes:
            return self._first
        if changes not in self._commits:
            change, others = changes[-1], changes[:-1]
            sides = ((*others,), (change,)) if others else (change.onto,)
            parents = [self._committed(side) for side in sides]
            tree, words = self._merged_tree(changes).tree, "Merged." if others else change.agent
            self._commits[changes] = self._commit(tree, words, *parents)
        return self._commits[changes]

    def _without_loss(self, message: str, labels: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """Parse git's report of a merge, and add the versions that git left out.

        git takes one of two files that are not text.
        """
        tree, _, rest = message.partition("\0")
        if not rest:
            return tree, ()
        stages, _, messages = rest.removeprefix("\0").partition("\0\0")
        if rest.startswith("\0"):
            stages, messages = "", rest[1:]
        listed = self._git("ls-tree", "-r", "-z", tree)
        merged = {path: (mode, name) for path, mode, _, name in _entries(listed)}
        beside: dict[str, _Version] = {}
        texts = [*_conflicts(messages)]
        for path, label, version in _left_out(stages, labels, merged):
            name = _free(f"{path}~{label.replace('/', '_')}", {*merged, *beside})
            beside[name] = version
            texts.append(on_one_line(f"The version of {label} is {name}"))
        return self._with(tree, beside), tuple(texts)

    def _with(self, tree: str, files: Mapping[str, _Version]) -> str:
        """Add files to a tree."""
        if not files:
            return tree
        with self._index() as index:
            self._git("read-tree", tree, environment=index)
            added = "".join(f"{mode} {name}\t{path}\0" for path, (mode, name) in files.items())
            self._git("update-index", "-z", "--index-info", text=added, environment=index)
            return self._git("write-tree", environment=index).strip()

    def _commit(self, tree: str, message: str, *parents: str) -> str:
        onto = [word for parent in parents for word in ("-p", parent)]
        text = self._git("commit-tree", tree, *onto, "-m", message, environment=NEVER)
        return text.strip()

    @contextmanager
    def _index(self) -> Generator[Mapping[str, str]]:
        """Give some commands an index of their own."""
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="index") as folder:
            yield {"GIT_INDEX_FILE": f"{folder}/index"}

    def _git(self, *arguments: str, folder: Path | None = None, **options: Any) -> str:
        return git(folder or self.folder, f"--git-dir={self.folder}", *arguments, **options)


def _is_text(patch: str) -> bool:
    """Return whether git's patch is UTF-8."""
    try:
        patch.encode()
    except UnicodeEncodeError:
        return False
    return True


def _label(agents: Sequence[str]) -> str:
    """Name one side of a merge."""
    label = "+".join(dict.fromkeys(agents))
    return label if len(label) <= LONGEST_LABEL else f"{agents[0]}+{len(agents) - 1}_more"


def _entries(listed: str) -> Iterator[tuple[str, str, str, str]]:
    """Parse a listing of files: the path of each, and git's three words about it."""
    for line in filter(None, listed.split("\0")):
        about, _, path = line.partition("\t")
        mode, second, third = about.split(" ")
        yield path, mode, second, third


def _left_out(
    stages: str, labels: Sequence[str], merged: Mapping[str, _Version]
) -> Iterator[tuple[str, str, _Version]]:
    """Yield path, side and version of each file that a merge neither took nor wrote."""
    sides: defaultdict[str, dict[str, _Version]] = defaultdict(dict)
    for path, mode, name, stage in _entries(stages):
        sides[path][stage] = (mode, name)
    everywhere = {name for _, name in merged.values()}
    for path, versions in sides.items():
        # What git took may have the mode of the other side.
        has_merged = path in merged and merged[path][1] not in {
            name for _, name in versions.values()
        }
        for stage, label in zip("23", labels, strict=True):
            mode, name = versions.get(stage, (SUBMODULE, ""))
            if mode != SUBMODULE and not has_merged and name not in everywhere:
                yield path, label, (mode, name)


def _conflicts(messages: str) -> Iterator[str]:
    """Parse git's report on the files that it could not merge."""
    words = messages.split("\0")
    while len(words) > 2:
        count = int(words[0])
        kind, text = words[1 + count], words[2 + count]
        if kind.startswith("CONFLICT"):
            yield on_one_line(text)
        words = words[3 + count :]


def _free(path: str, names: Collection[str]) -> str:
    """Return a free path: none of these names, and no folder of theirs."""
    name, number = path, 1
    while any(path_there == name or path_there.startswith(f"{name}/") for path_there in names):
        number += 1
        name = f"{path}_{number}"
    return name
