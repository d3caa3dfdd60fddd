"""What packages declare for us: what `importlib.metadata` tells, found faster."""

import sys
import zipfile
from collections.abc import Iterable, Mapping
from importlib.metadata import (
    MetadataPathFinder,
    PackageNotFoundError,
    entry_points,
    version,
)
from pathlib import Path

import pytest

from coterie.schema.values.entries import PREFIX, EntryPoint, find_entries, own_version

PATH = tuple(sys.path)
Told = list[tuple[str, str, str]]


def told_by_python() -> Told:
    result = entry_points()
    groups = sorted(group for group in result.groups if group.startswith(PREFIX))
    return [
        (group.removeprefix(PREFIX), point.name, point.value)
        for group in groups
        for point in result.select(group=group)
    ]


def told(entries: Iterable[EntryPoint]) -> Told:
    """In the order of their groups; within one, as they were found."""
    rows = [(entry.group, entry.name, entry.value) for entry in entries]
    return sorted(rows, key=lambda row: row[0])


def install(folder: Path, declared: Mapping[str, str]) -> Path:
    for name, text in declared.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "entry_points.txt").write_text(text)
        described = "METADATA" if name.endswith("dist-info") else "PKG-INFO"
        (folder / name / described).write_text(f"Metadata-Version: 2.1\nName: {name[:4]}\n")
    return folder


@pytest.fixture
def only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all there is on the path."""
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    return tmp_path


def test_what_is_installed_here_is_found() -> None:
    assert told(find_entries(sys.path)) == told_by_python()
    assert {entry.package for entry in find_entries(sys.path)} >= {"coterie"}


POINTS = "[coterie.tools]\none = a:one\n# no = comment:x\n\n[other]\ntwo = b:two\n"


@pytest.mark.parametrize(
    "declared",
    [
        {"some-1.0.dist-info": POINTS},
        {"some.egg-info": POINTS},
        {"some-1.0.DIST-INFO": POINTS},
        {"some-1.0.dist-info": POINTS, "Some-2.0.dist-info": POINTS.replace("one", "two")},
        {"so_me-1.0.dist-info": POINTS, "so.me-2.0.egg-info": POINTS.replace("one", "two")},
        {"some-1.0.dist-info": POINTS, "else-1.0.dist-info": POINTS.replace("a:one", "b:one")},
        {"some-1.0.dist-info": "[coterie.tools]\n  one=a : b [extra]\n\n [ coterie.no ] \nx = y\n"},
        {"some-1.0.dist-info": "one = coterie.x:no_group\n[coterie.tools]\nequal = a=b\n"},
        {"some-1.0.dist-info": "[tools]\none = coterie.a:one\n"},
        {"some-1.0.dist-info": ""},
        {},
    ],
    ids=str,
)
def test_it_is_found_as_python_finds_it(declared: Mapping[str, str], only: Path) -> None:
    install(only, declared)
    assert told(find_entries(sys.path)) == told_by_python()


def test_of_two_packages_the_first_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [
        install(tmp_path / "b", {"some-1.0.dist-info": POINTS}),
        install(tmp_path / "a", {"some-2.0.dist-info": POINTS.replace("one", "two")}),
        tmp_path / "missing",
    ]
    monkeypatch.setattr(sys, "path", [*map(str, folders), ""])
    monkeypatch.chdir(tmp_path)
    assert told(find_entries(sys.path)) == told_by_python() == [("tools", "one", "a:one")]


def test_what_cannot_be_read_declares_nothing(only: Path) -> None:
    (only / "file-1.0.egg-info").touch()
    (only / "none-1.0.dist-info").mkdir()
    (only / "link-1.0.dist-info" / "entry_points.txt").mkdir(parents=True)
    install(only, {"some-1.0.dist-info": POINTS})
    with (only / "some-1.0.dist-info" / "entry_points.txt").open("ab") as file:
        file.write(b"torn = \xff:x\nno pair\n")
    assert told(find_entries(sys.path)) == [("tools", "one", "a:one")]


def test_archives_are_left_to_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "some.zip", "w") as archive:
        archive.writestr("some-1.0.dist-info/entry_points.txt", POINTS)
        archive.writestr("some-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: some\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "some.zip")])
    [entry] = find_entries(sys.path)
    assert (entry.group, entry.name, entry.value) == ("tools", "one", "a:one")
    assert entry.package == "some"


def test_other_ways_to_find_are_pythons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A finder of its own, as some programs that run packed have one."""
    folder = install(tmp_path, {"some-1.0.dist-info": POINTS})

    class Finder:
        @staticmethod
        def find_spec(*_: object) -> None:
            return None

        @staticmethod
        def find_distributions(context: object) -> object:
            del context
            from importlib.metadata import DistributionFinder

            return MetadataPathFinder.find_distributions(
                DistributionFinder.Context(path=[str(folder)])
            )

    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    assert told(find_entries(sys.path)) == [("tools", "one", "a:one")]


@pytest.mark.parametrize(
    ("value", "text"),
    [("json", "json"), ("json:dumps", "dumps"), ("json : JSONDecoder.decode [x]", "decode")],
)
def test_a_name_leads_to_a_module_or_to_something_in_it(value: str, text: str) -> None:
    assert EntryPoint(group="tools", name="one", value=value).load().__name__ == text


def test_a_value_that_names_no_module_cannot_be_imported() -> None:
    entry = EntryPoint(group="tools", name="one", value="no module")
    with pytest.raises(ImportError, match="it names no module"):
        entry.load()
    assert entry.package == ""


def test_our_version_is_what_python_says_it_is() -> None:
    assert own_version(sys.path) == version("coterie")


@pytest.mark.parametrize("name", ["coterie-2.0.dist-info/METADATA", "coterie.egg-info/PKG-INFO"])
def test_our_version_is_that_of_the_first_on_the_path(name: str, only: Path) -> None:
    (only / name).parent.mkdir()
    (only / name).write_text("Metadata-Version: 2.1\nName: coterie\nVersion: 2.0\n\nVersion: 3\n")
    assert own_version([*sys.path, *PATH]) == version("coterie") == "2.0"


def test_what_is_not_described_is_left_to_python(only: Path) -> None:
    with pytest.raises(PackageNotFoundError):
        own_version(sys.path)
    (only / "coterie.egg-info").write_text("Name: coterie\nVersion: 2.0\n")
    assert own_version(sys.path) == version("coterie") == "2.0"
    (only / "coterie.egg-info").unlink()
    (only / "coterie-2.0.dist-info").mkdir()
    (only / "coterie-2.0.dist-info" / "METADATA").write_text("Name: coterie\n\n Version: 1.0\n")
    (only / "coterie-2.0.dist-info" / "PKG-INFO").write_text("Name: coterie\nVersion: 2.0\n")
    assert own_version(sys.path) == "2.0"
