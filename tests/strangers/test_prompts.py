"""Links in what strangers put beside a team or a task: nothing outside goes to a model."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from coterie.operators.core.roles import load_roles
from coterie.runtime.command.run import main
from coterie.runtime.doubles import ScriptedModel
from coterie.schema import Catalogue, ConfigError, InputError
from coterie.schema.command.importing import main as mas_import

from ..support.commands import CommandResult, invoked_in
from ..support.shares import every
from .links import CANARY, KINDS, Outside

AGENT = f"prompt: {json.dumps(CANARY.strip())}\n"
SKILL = f"---\ndescription: Skill.\n---\n\n{CANARY}"
FILES = {
    "stranger/teams/team.yaml": (
        "name: t\n"
        "agents:\n"
        "  named: {prompt: leak}\n"
        "  above: {prompt: far}\n"
        "  folder: {use: agents/critic}\n"
        "  file: {use: agents/one.yaml}\n"
        "topology: {reports_to: {named: [file], above: [file], folder: [file]}}\n"
    ),
    "stranger/teams/prompts/leak.md": "Look.\n",
    "stranger/prompts/far.md": "Look from afar.\n",
    "stranger/teams/agents/one.yaml": "prompt: Sum up.\n",
    "stranger/teams/agents/critic/agent.yaml": "role: critic\n",
    "stranger/teams/agents/critic/prompt.md": "Find the mistake.\n",
    "stranger/teams/agents/critic/skills/s/SKILL.md": "---\ndescription: S.\n---\n\nBody.\n",
    "stranger/teams/agents/critic/notes/coaching.md": "Slow down.\n",
    "stranger/teams/agents/critic/notes/patches/p.md": "Write units.\n",
    "stranger/teams/agents/critic/notes/teammates/above.md": "Quick.\n",
    "stranger/task/task.json": '{"id": "t", "query": "Well?", "files": ["notes.txt", "a/b.txt"]}',
    "stranger/task/notes.txt": "Notes.\n",
    "stranger/task/a/b.txt": "Further notes.\n",
}
TEAM, TASK = "stranger/teams/team.yaml", "stranger/task/task.json"
OUTSIDE = {
    "agent.yaml": AGENT,
    **dict.fromkeys(("leak.md", "far.md", "prompt.md", "coaching.md", "p.md"), CANARY),
    **dict.fromkeys(("above.md", "notes.txt", "b.txt"), CANARY),
    "one.yaml": AGENT,
    "SKILL.md": SKILL,
    "s/SKILL.md": SKILL,
    "skills/s/SKILL.md": SKILL,
    "notes/coaching.md": CANARY,
    "notes/patches/p.md": CANARY,
    "patches/p.md": CANARY,
    "teammates/above.md": CANARY,
    "critic/agent.yaml": AGENT,
    "agents/one.yaml": AGENT,
    "agents/critic/agent.yaml": AGENT,
    "a/b.txt": CANARY,
    "prompts/leak.md": CANARY,
    "prompts/far.md": CANARY,
}
PARTS = (
    "teams/prompts/leak.md", "prompts/far.md", "teams/prompts", "prompts", "teams/agents",
    "teams/agents/one.yaml", "teams/agents/critic", "teams/agents/critic/agent.yaml",
    "teams/agents/critic/prompt.md", "teams/agents/critic/skills", "teams/agents/critic/skills/s",
    "teams/agents/critic/skills/s/SKILL.md", "teams/agents/critic/notes",
    "teams/agents/critic/notes/coaching.md", "teams/agents/critic/notes/patches",
    "teams/agents/critic/notes/patches/p.md", "teams/agents/critic/notes/teammates",
    "teams/agents/critic/notes/teammates/above.md", "task/notes.txt", "task/a", "task/a/b.txt",
)  # fmt: skip
VARIANTS = [(part, kind) for part in PARTS for kind in KINDS]
PLACE = re.compile(r"^\S+:\d+:\d+: error: .+", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A model that notes what it reads, and a folder outside, for all tests of this file."""

    model: ScriptedModel
    outside: Outside

    def run(self, folder: Path) -> CommandResult:
        """Have the team at work, by the real command; say how often the model was called."""
        already = len(self.model.calls)
        words = [TEAM, TASK, "--model", f"scripted@{self.model.api_base}"]
        result = invoked_in(folder, main, words, "mas-run")
        result.asked = [*self.model.calls[already:]]
        return result


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    outside = Outside.of(tmp_path_factory.mktemp("outside"), OUTSIDE)
    with ScriptedModel("fine") as model:
        yield Scene(model=model, outside=outside)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def read(result: CommandResult) -> str:
    """Return all that a model read."""
    return "\n".join(json.dumps(call.body) for call in result.asked)


def link(folder: Path, part: str, kind: str, outside: Outside) -> None:
    """Put a link of some kind in the place of a part."""
    path = folder / "stranger" / part
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    KINDS[kind](path, outside.folder / path.name)


def test_the_honest_team_reads_all_of_its_parts(folder: Path, scene: Scene) -> None:
    result = scene.run(folder).ended(0)
    for text in ("Look.", "from afar.", "Sum up.", "mistake.", "Body.", "Slow", "units", "Further"):
        assert text in read(result), text


@pytest.mark.parametrize(("part", "kind"), every(3, VARIANTS))
def test_no_link_leads_a_model_outside(part: str, kind: str, folder: Path, scene: Scene) -> None:
    link(folder, part, kind, scene.outside)
    result = scene.run(folder)
    assert CANARY.strip() not in read(result)
    assert (result.code, result.asked) == (2, []), result.err
    assert PLACE.search(result.err) or f"stranger/{part}" in result.err, result.err
    assert "Traceback" not in result.err
    assert CANARY.strip() not in result.out + result.err
    assert scene.outside.is_as_it_was


@pytest.mark.parametrize(
    ("part", "moved"),
    [
        ("teams/prompts/leak.md", "teams/prompts/moved/leak.md"),
        ("prompts/far.md", "prompts/moved.md"),
        ("teams/prompts", "teams/texts"),
        ("teams/agents/critic/prompt.md", "teams/agents/prompt.md"),
        ("teams/agents/critic/skills/s", "teams/skills/s"),
        ("task/notes.txt", "task/a/notes.txt"),
    ],
)
@pytest.mark.parametrize("kind", ["absolute", "relative"])
def test_a_link_that_stays_in_its_folder_is_followed(
    part: str, moved: str, kind: str, folder: Path, scene: Scene
) -> None:
    path, target = folder / "stranger" / part, folder / "stranger" / moved
    target.parent.mkdir(exist_ok=True)
    path.rename(target)
    KINDS[kind](path, target)
    result = scene.run(folder).ended(0)
    for text in ("Look.", "from afar.", "mistake.", "Body.", "Notes."):
        assert text in read(result), text


CREW = {
    "crew/config/agents.yaml": "scout: {role: Scout, goal: Look, backstory: Old}\n",
    "crew/config/tasks.yaml": "look: {description: Look., expected_output: All., agent: scout}\n",
}


@pytest.mark.parametrize("part", ["crew/config", *CREW])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"pipe", "hard"}])
def test_no_link_leads_out_of_a_taken_over_project(part: str, kind: str, tmp_path: Path) -> None:
    for name, text in CREW.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert invoked_in(tmp_path, mas_import, ["crew"], "mas-import").code == 0
    (tmp_path / "outside").mkdir()
    (tmp_path / part).rename(tmp_path / "outside" / Path(part).name)
    KINDS[kind](tmp_path / part, tmp_path / "outside" / Path(part).name)
    assert "Scout" not in invoked_in(tmp_path, mas_import, ["crew"], "mas-import").refused()


def test_no_link_leads_out_of_a_catalogue_of_roles(tmp_path: Path) -> None:
    known = Catalogue.of_host()
    outside, inside = tmp_path / "outside", tmp_path / "recipes"
    for folder in (outside, inside, inside / "own", inside / "linked"):
        folder.mkdir()
        for name in ("ada", "ben"):
            (folder / f"{name}.yaml").write_text(AGENT)
    (inside / "roles").symlink_to(outside)
    with pytest.raises(InputError, match="it is a link that leads out"):
        load_roles(inside / "roles", known)
    (inside / "linked/ben.yaml").unlink()
    (inside / "linked/ben.yaml").symlink_to(outside / "ben.yaml")
    with pytest.raises(
        (ConfigError, InputError), match="it is a link that leads out of its folder"
    ):
        load_roles(inside / "linked", known)
    (inside / "again").symlink_to("own")
    assert [*load_roles(inside / "again", known)] == ["ada", "ben"]
