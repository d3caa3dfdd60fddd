"""A pool's head as a folder of text: it follows the ledger, and loses nothing of a person's."""

import shutil
from collections.abc import Sequence
from dataclasses import astuple, replace
from functools import partial
from pathlib import Path

import pytest

from coterie.pool import Pool, verify
from coterie.pool.command import main as mas_pool
from coterie.pool.ledger.changes import Added, EventNoted, Restored, Retired
from coterie.pool.ledger.scaffold import HEAD
from coterie.schema import Agent, Catalogue, Lineage, Team, dump, load_team
from coterie.schema.command.diff import main as mas_diff
from coterie.schema.edits import AddAgent, Edit, SetNote, apply, taught

from ...support.commands import ran
from ...support.repositories import run_git

KNOWN = Catalogue.of_host()
ORIGIN = Team(
    name="desk",
    constitution="Answer in one line.\n",
    agents={
        "solver": Agent(id="solver", role="solver", prompt="Solve the task."),
        "critic": Agent(id="critic", role="critic", prompt="Find the mistake."),
    },
    reports_to={"solver": ("critic",)},
)
UNITS = SetNote(agent="solver", note="patch", name="units", text="Write the unit.")


def child_of(team: Team, task: str, *edits: Edit) -> Team:
    child = apply(team, edits, KNOWN)
    assert isinstance(child, Team), child
    return taught(child, edits, task)


def succeed(pool: Pool, task: str, *edits: Edit) -> str:
    """Let the head change, as a strategy does after a task."""
    head = pool.head
    assert head is not None
    lineage = Lineage(operator="settle", parents=(head.name,), task=task, reason="So it was.")
    child = child_of(head.team, task, *edits)
    name, is_new = astuple(pool.commit(Added(member=child, lineage=lineage), op=f"{task}/child"))
    if not is_new:
        pool.commit(Restored(member=name), op=f"{task}/restored")
    pool.commit(Retired(member=head.name, reason="Its child came."), op=f"{task}/retired")
    return name


def head_of(pool: Pool) -> Team:
    assert pool.head is not None
    return pool.head.team


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    """A pool whose head is the team `desk`."""
    (tmp_path / "desk.yaml").write_text(dump(ORIGIN))
    pool = Pool.init(tmp_path / "pool", [tmp_path / "desk.yaml"])
    assert pool.head is None
    assert not (pool.folder / "scaffold").exists()
    pool.commit(EventNoted(what=HEAD, about={"team": "desk"}), op="begin")
    return pool


def test_the_folder_is_the_head_after_each_change_and_untouched_files_stay(pool: Pool) -> None:
    folder = pool.folder / "scaffold"
    assert load_team(folder) == ORIGIN
    prompt = folder / "agents/critic/prompt.md"
    before = prompt.stat().st_mtime_ns
    assert succeed(pool, "sums_1", UNITS) == "desk_1"
    assert load_team(pool.folder / "scaffold") == head_of(pool)
    assert head_of(pool).agents["solver"].notes.taught == {"patches/units": "sums_1"}
    assert prompt.stat().st_mtime_ns == before
    assert Pool.open(pool.folder).head is not None
    assert succeed(pool, "sums_2", replace(UNITS, text="")) == "desk"
    assert not (folder / "agents/solver/notes").exists()


STORY: Sequence[Edit] = (
    SetNote(agent="solver", note="patch", name="units", text="Write the unit beside each number."),
    SetNote(agent="solver", note="teammate", name="critic", text="Reads only the last line."),
    SetNote(agent="critic", note="pair", name="solver", text="Ask for the units first."),
    SetNote(agent=None, note="constitution", text="Answer in one line.\nName what is not sure.\n"),
    AddAgent(
        agent=Agent(id="checker", role="checker", prompt="Add it up again."),
        before="critic",
        reports_to=("critic",),
        receives_from=("solver",),
    ),
)
"""What a task may teach: an agent, two who work together, the team."""

TOLD = """\
agents/checker/agent.yaml
+# yaml-language-server: $schema=agent.schema.json
+role: checker
agents/checker/prompt.md
+Add it up again.
agents/critic/notes/pairs/solver.md
+---
+task: sums_2
+---
+
+Ask for the units first.
agents/solver/notes/patches/units.md
-task: sums_1
+task: sums_2
-Write the unit.
+Write the unit beside each number.
agents/solver/notes/teammates/critic.md
+---
+task: sums_2
+---
+
+Reads only the last line.
team.yaml
-name: desk_1
+name: desk_2
+  Name what is not sure.
+  checker:
+    use: agents/checker
-    solver: [critic]
+    solver: [checker, critic]
+    checker: [critic]
-  parents: [desk]
+  parents: [desk_1]
-  task: sums_1
+  task: sums_2
"""
"""What of it git shows, without what stayed."""


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_what_a_task_taught_reads_as_a_story(pool: Pool) -> None:
    git = partial(run_git, pool.folder / "scaffold")
    git("init", "-q")
    succeed(pool, "sums_1", UNITS)
    git("add", ".")
    git("commit", "-qm", "After sums_1")
    succeed(pool, "sums_2", *STORY)
    git("add", "-N", ".")
    shown = git("diff", "-U0", "--no-color").splitlines()
    lines = [
        line.removeprefix("+++ b/")
        for line in shown
        if (line[:1] in "+-" and not line.startswith("---")) or line in {"+---"}
    ]
    assert "\n".join(lines) + "\n" == TOLD
    assert load_team(pool.folder / "scaffold") == head_of(pool)


def test_words_say_whose_note_changed_and_which_task_taught_it(pool: Pool, tmp_path: Path) -> None:
    succeed(pool, "sums_1", UNITS)
    shutil.copytree(pool.folder / "scaffold", tmp_path / "before")
    succeed(pool, "sums_2", *STORY)
    result = ran(mas_diff, str(tmp_path / "before"), str(pool.folder / "scaffold"))
    assert result.exit_code == 1
    for word in (
        "solver: patch units Write the unit. -> Write the unit beside each number."
        " (taught by sums_2), note on critic none -> Reads only the last line. (taught by sums_2)",
        "critic: work with solver none -> Ask for the units first. (taught by sums_2)",
    ):
        assert word in result.stdout.splitlines()


def test_who_opens_the_pool_brings_the_folder_up(pool: Pool, tmp_path: Path) -> None:
    folder = pool.folder / "scaffold"
    succeed(pool, "sums_1", UNITS)
    shutil.copytree(folder, tmp_path / "before")
    succeed(pool, "sums_2", *STORY)
    whole = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for lost in ("team.yaml", "agents/solver/notes/patches/units.md"):
        shutil.copy(tmp_path / "before" / lost, folder / lost)
    (folder / "agents/checker/prompt.md").unlink()
    notes = verify(pool.folder).notes
    assert [note.partition(": ")[2][:27] for note in notes] == ["outdated after a crash. The"] * 3
    Pool.open(pool.folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == whole
    assert verify(pool.folder).notes == ()
    shutil.rmtree(folder)
    Pool.open(pool.folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == whole


def test_what_a_person_edits_is_told_and_copied_aside(pool: Pool) -> None:
    folder, texts = pool.folder / "scaffold", list[str]()
    (folder / "agents/critic/prompt.md").write_text("Find all mistakes.\n")
    (folder / "agents/critic/notes/patches").mkdir(parents=True)
    (folder / "agents/critic/notes/patches/mine.md").write_text("Be kind.\n")
    (folder / "README.md").write_text("Mine.\n")
    result = verify(pool.folder)
    assert result.faults == ()
    names = [note.partition("scaffold/")[2].partition(".md")[0] for note in result.notes]
    assert names == ["agents/critic/notes/patches/mine", "agents/critic/prompt", "README"]
    again = Pool.open(pool.folder, report=texts.append)
    assert (folder / "agents/critic/prompt.md").read_text() == "Find all mistakes.\n"
    succeed(again, "sums_1", UNITS)
    assert load_team(folder) == head_of(again)
    assert (folder / "README.md").read_text() == "Mine.\n"
    aside = load_team(pool.folder / "scaffold_edited_1").agents["critic"]
    assert (aside.prompt, aside.notes.patches) == ("Find all mistakes.", {"mine": "Be kind."})
    assert len(texts) == 1
    assert "agents/critic/prompt.md" in texts[0]
    assert texts[0].endswith(f"is kept in {pool.folder / 'scaffold_edited_1'}.")


def test_what_a_person_edits_is_taken_in_where_they_ask_for_it(pool: Pool) -> None:
    folder = pool.folder / "scaffold"

    def adopt() -> str:
        result = ran(mas_pool, "adopt", str(pool.folder), "--reason", "Kinder.")
        return f"{result.exit_code} {result.output}"

    assert "nothing to adopt" in adopt()
    (folder / "agents/critic/agent.yaml").write_text("# mine\nrole: kind critic\n")
    (folder / "agents/critic/notes/patches").mkdir(parents=True)
    (folder / "agents/critic/notes/patches/mine.md").write_text("Be kind.\n")
    assert adopt() == "0 desk_1: now the head\n"
    pool.refresh()
    assert pool.head is not None
    assert pool.head.name == "desk_1"
    assert (pool.head.lineage.operator, pool.head.lineage.reason) == ("adopt", "Kinder.")
    assert load_team(folder) == pool.head.team
    assert pool.head.team.agents["critic"].notes.patches == {"mine": "Be kind."}
    assert not (pool.folder / "scaffold_edited_1").exists()
    assert verify(pool.folder).notes == ()
    (folder / "agents/critic/agent.yaml").write_text("rloe: critic\n")
    assert "agents/critic/agent.yaml:1:1: error: rloe" in adopt()


def test_without_a_head_there_is_no_folder(tmp_path: Path) -> None:
    pool = Pool.init(tmp_path / "pool", ["seed:debate_3"])
    assert pool.head is None
    result = ran(mas_pool, "adopt", str(pool.folder))
    assert result.exit_code == 2
    assert "no strategy has chosen the team of its scaffold" in result.output
    assert not (pool.folder / "scaffold").exists()
