import re
from pathlib import Path

import pytest

from coterie.benchmarks.arena.declared import load_arena
from coterie.schema import Catalogue, dump, load_models, load_task, load_team, load_tools
from coterie.schema.explain.reference import PAGES, reference
from coterie.schema.host.fields import DOCUMENTS, find, root, walk
from coterie.schema.loading.ceiling import load_ceiling
from coterie.schema.loading.recipe import load_recipe

ROOT = Path(__file__).parents[3]
LOADERS = {
    "team": load_team,
    "task": load_task,
    "models": load_models,
    "tools": load_tools,
    "policy": load_ceiling,
    "evolution": load_recipe,
    "arena": lambda path: load_arena(path, Catalogue.of_host(), path.parent),
}


def example_of(document: str, folder: Path) -> Path:
    """Write the example of a page to a file."""
    result = re.search(r"```(yaml|json)\n(.*?)```", reference(document), re.DOTALL)
    assert result
    (folder / "tools.py").write_text('def weekday(day: str) -> str:\n    "Tell."\n')
    path = folder / f"{document}.{result[1]}"
    path.write_text(result[2], encoding="utf-8")
    return path


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_page_in_docs_is_the_one_that_the_schema_gives(document: str) -> None:
    committed = (ROOT / PAGES[document].path).read_text(encoding="utf-8")
    assert committed == reference(document), f"mas dev explain --markdown {document}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_example_of_a_page_loads(document: str, tmp_path: Path) -> None:
    assert LOADERS[document](example_of(document, tmp_path))


def test_the_team_of_the_page_is_in_canonical_form(tmp_path: Path) -> None:
    path = example_of("team", tmp_path)
    assert dump(load_team(path)) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_field_is_in_a_table_of_three_cells(document: str) -> None:
    page = reference(document)
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    fields = [field for field in walk(root(document)) if field.path and not field.is_any]
    assert sorted(row.split("`")[1] for row in rows) == sorted(field.key for field in fields)
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4}


def test_placeholders_are_not_taken_for_html() -> None:
    assert r"(prompts/\<id>.md beside the team file" in reference("team")
    assert "prompts/<id>.md" in find("agents.prompt").meaning
