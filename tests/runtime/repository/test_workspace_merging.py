"""Agents that do anything to a repository: git is the judge, and nothing is lost."""

import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from random import Random

from coterie.runtime.repository.workspace import Workspaces
from coterie.schema import Task

from ..merging import MARKED, Contents, Edit, Topology, judged, start_repository, walked, worked

TEXTS = ["code.py", "notes.txt", "dir/a.txt", "dir/b.txt"]
FILES: Mapping[str, bytes] = {
    **{name: "".join(f"{name} {number}\n" for number in range(30)).encode() for name in TEXTS},
    "logo.bin": bytes(range(256)),
    "run.sh": b"#!/bin/sh\n",
}
NEW = ["new.txt", "größe.txt", "new\nline", '"quoted"', "dir/new.bin", "code.py/inner", "dir"]
TOKEN = re.compile(rb"<[a-z0-9]+\.[0-9]+>")
MARKS = (b"<<<<<<<", b"=======", b">>>>>>>")


def mend(path: Path) -> None:
    """Keep both versions of what is text, and one of what is not."""
    for file in [*walked(path)]:
        if file.is_dir() and not file.is_symlink():
            continue
        if "~" in str(file.relative_to(path)):
            file.unlink()
        elif not file.is_symlink() and MARKED.search(text := file.read_bytes()):
            kept = [line for line in text.split(b"\n") if not line.startswith(MARKS)]
            file.write_bytes(b"\n".join(kept))


def on_a_line(file: Path, token: bytes, random: Random) -> None:
    lines = file.read_bytes().split(b"\n")
    place = random.randrange(len(lines))
    lines[place : place + random.choice([0, 1, 1, 3])] = [lines[place] + token]
    file.write_bytes(b"\n".join(lines))


def at_the_end(file: Path, token: bytes, random: Random) -> None:
    ends = [b"\n", b"\r\n", b"", "ü".encode("latin-1")]
    file.write_bytes(file.read_bytes() + token + random.choice(ends))


def anew(file: Path, token: bytes, random: Random) -> None:
    file.write_bytes(random.choice([b"", b"\0", "ü".encode("latin-1")]) + token)


def renamed(file: Path, token: bytes, random: Random) -> None:
    file.write_bytes(file.read_bytes() + token)
    target = file.with_name(f"{random.choice(['moved', 'other'])}_{file.name}")
    if not target.exists():
        file.rename(target)


def removed(file: Path, token: bytes, random: Random) -> None:
    del token, random
    file.unlink()


def a_program(file: Path, token: bytes, random: Random) -> None:
    del token
    file.chmod(random.choice([0o755, 0o644]))


def a_link(file: Path, token: bytes, random: Random) -> None:
    del random
    file.unlink()
    file.symlink_to(token.decode())


CHANGES: list[Callable[[Path, bytes, Random], None]] = [
    on_a_line, on_a_line, on_a_line, at_the_end, at_the_end, anew, renamed, removed, a_program,
    a_link,
]  # fmt: skip


def at_random(seed: str) -> Edit:
    """Mend what conflicts, then do some things to files whose names are known beforehand."""

    def edit(path: Path, agent: str) -> None:
        random = Random(f"{seed} {agent}")
        mend(path)
        for number in range(random.randint(1, 4)):
            token = f"<{agent}.{number}>".encode()
            if random.random() < 0.25:
                create(path / random.choice(NEW), token, path)
                continue
            file = path / random.choice([*FILES, "moved_code.py", "other_code.py", NEW[0]])
            if file.is_file() and not file.is_symlink():
                random.choice(CHANGES)(file, token, random)

    return edit


def create(file: Path, token: bytes, root: Path) -> None:
    """Make a file, in the place of whatever is in its way."""
    for parent in (*reversed(file.relative_to(root).parents), file.relative_to(root)):
        place = root / parent
        if place.is_symlink() or (place.is_file() and place != file):
            place.unlink()
        if place.is_dir() and place == file:
            shutil.rmtree(place)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"new " + token + b"\n")


def tokens(contents: Contents) -> set[bytes]:
    return {item for _, _, text in contents for item in TOKEN.findall(text)}


def cases(numbers: Iterable[int]) -> Iterator[tuple[str, Topology, set[str]]]:
    """Some topologies of up to five, most of whose agents can edit; the last one reads all."""
    for number in numbers:
        random = Random(f"case {number}")
        *others, last = names = [f"w{place}" for place in range(random.randint(3, 5))]
        share = random.choice([0.1, 0.3, 0.6])
        topology = {
            name: tuple(word for word in names[:place] if name == last or random.random() < share)
            for place, name in enumerate(names)
        }
        coding = {other for other in others if random.random() < 0.75} | {last}
        yield f"case {number}", topology, coding


def above(topology: Topology, agent: str) -> set[str]:
    return set(topology[agent]).union(*(above(topology, name) for name in topology[agent]))


def test_git_judges_and_all_stays(tmp_path: Path, nightly: bool, share: int, shares: int) -> None:
    repository = start_repository(tmp_path / "repository", FILES)
    judge = start_repository(tmp_path / "judge", FILES)
    numbers = range(share, 10_000 if nightly else 2, shares)
    with Workspaces(Task(id="task", query="?", repo=repository)) as home:
        for number, (case, topology, coding) in enumerate(cases(numbers)):
            coders = {agent: at_random(case) for agent in coding}
            ours = worked(home, topology, coders, attempt=number + 1)
            theirs = judged(judge, topology, coders)
            for agent in ours:
                compare(case, ours[agent], theirs[agent])
                nothing_is_lost(case, agent, topology, ours)
            for left in home.folder().glob(f"w?-{number + 1}"):
                shutil.rmtree(left)


def compare(case: str, ours: tuple[Contents, Contents], theirs: tuple[Contents, Contents]) -> None:
    """Ours is what git makes of it, with what git would have left out beside it."""
    for mine, other in zip(ours, theirs, strict=True):
        assert not other - mine, (case, other - mine)
        assert all(name.endswith("~") for name, _, _ in mine - other), (case, mine - other)


def nothing_is_lost(
    case: str, agent: str, topology: Topology, seen: Mapping[str, tuple[Contents, Contents]]
) -> None:
    """What somebody wrote reaches all after it, unless somebody who had it removed it."""
    before = {name for name in above(topology, agent) if name in seen}
    for author in before:
        having = [name for name in before if name == author or author in above(topology, name)]
        kept = [tokens(seen[name][1]) for name in having]
        own = {data for data in kept[0] if data.startswith(f"<{author}.".encode())}
        must = own.intersection(*kept)
        lost = must - tokens(seen[agent][0])
        assert not lost, (case, agent, lost)
