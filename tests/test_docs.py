"""The pages' examples run as they stand."""

import json
import re
import sys
import tomllib
from io import BytesIO, TextIOWrapper
from pathlib import Path
from runpy import run_path
from types import ModuleType

import pytest

from coterie.schema import Catalogue, load_task, load_team
from coterie.schema.command.graph import main as mas_graph

from .support.commands import invoked_in

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    page for within in ("*", "docs/**/*", "examples/**/*") for page in ROOT.glob(f"{within}.md")
)


def blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def with_blocks(language: str) -> list[Path]:
    return [page for page in PAGES if blocks(page, language)]


@pytest.mark.parametrize("page", with_blocks("python"), ids=lambda page: page.name)
def test_python_blocks_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = ModuleType("example")
    monkeypatch.setitem(sys.modules, "example", example)  # where its dataclasses look
    monkeypatch.chdir(ROOT)
    for stream in ("stdin", "stdout"):  # a tool server takes them over, and closes them
        monkeypatch.setattr(sys, stream, TextIOWrapper(BytesIO(), encoding="utf-8"))
    source = "\n\n".join(blocks(page, "python"))
    exec(compile(source, page.name, "exec"), vars(example))  # noqa: S102


ELSEWHERE = {"how.md", "tools.md"}
"""Pages whose teams need more than this host has; tests of their own load them."""


@pytest.mark.parametrize(
    "page",
    [page for page in with_blocks("yaml") if page.name not in ELSEWHERE],
    ids=lambda page: page.name,
)
def test_team_files_on_pages_load(page: Path, tmp_path: Path) -> None:
    for text in blocks(page, "yaml"):
        if re.search(r"^agents:", text, re.MULTILINE):
            (tmp_path / "team.yaml").write_text(text, encoding="utf-8")
            load_team(tmp_path / "team.yaml", Catalogue.of_host())


@pytest.mark.parametrize("page", with_blocks("json"), ids=lambda page: page.name)
def test_task_files_on_pages_load(page: Path, tmp_path: Path) -> None:
    for text in blocks(page, "json"):
        if "query" in json.loads(text):
            (tmp_path / "task.json").write_text(text, encoding="utf-8")
            load_task(tmp_path / "task.json")


@pytest.mark.parametrize("page", with_blocks("toml"), ids=lambda page: page.name)
def test_entry_points_on_pages_are_in_our_groups(page: Path) -> None:
    for text in blocks(page, "toml"):
        groups = tomllib.loads(text)["project"]["entry-points"]
        assert all(group.startswith("coterie.") for group in groups)


def prose(page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^(`{3,}).*?^\1$|^    .*?$", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """What a link may name behind `#`: the headings, as hosts of repositories and the site do."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    plain = [re.sub(r"\]\([^)]*\)", "", heading).lower() for heading in headings]
    return {re.sub(r"[^\w -]", "", heading).strip().replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", prose(page)):
        if not target.startswith(("http://", "https://")):
            to = page.parent / target if target else page
            assert to.exists(), target
            assert not anchor or anchor in anchors(to), f"{target}#{anchor}"


def test_every_page_has_one_place_in_the_navigation() -> None:
    parts = run_path(str(ROOT / ".ci/site"))["sections"]()
    assert [*map(next, map(iter, parts))][:4] == [
        "Tutorial",
        "How-to guides",
        "Reference",
        "Explanation",
    ]
    listed = re.findall(r"[\w./-]+\.md", str(parts))
    assert sorted(listed) == sorted(
        page.relative_to(ROOT).as_posix()
        for page in [*PAGES, ROOT / "seeds/README.md"]
        if page != ROOT / "README.md"
    ), "list each page once in docs/README.md or docs/research/README.md, as `- [Title](page.md)`"


def test_the_picture_on_the_first_page_is_the_team_as_it_is() -> None:
    drawn = invoked_in(ROOT, mas_graph, ["seeds/debate.yaml", "--format", "svg"], "mas dev graph")
    assert drawn.out == (ROOT / "docs" / "debate.svg").read_text(encoding="utf-8")
