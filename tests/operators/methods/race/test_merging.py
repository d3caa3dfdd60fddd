"""Merges: the edits of one candidate made in another, or what both decide."""

from __future__ import annotations

from coterie.operators.core.answers import child_of
from coterie.operators.methods.race.merging import Merging
from coterie.operators.methods.race.standings import Contender, Standings
from coterie.schema.edits import SetPrompt
from coterie.schema.loading.ceiling import CapabilityPolicy

from ...asking import catalogue, llm, team

PAIR = team("pair", llm("writer"), llm("editor"), edges={"writer": ("editor",)})


def race(*edits: tuple[int, str, str]) -> Merging:
    """A race of candidates, each its parent with the prompt of an agent set."""
    ceiling = CapabilityPolicy.of(PAIR)
    standings = Standings()
    standings.enter(Contender(number=0, team=PAIR, key=PAIR.content_hash, scores=[0.4] * 20))
    for number, (parent, agent, prompt) in enumerate(edits, start=1):
        edit = SetPrompt(agent=agent, prompt=prompt)
        child = child_of(standings.candidates[parent].team, [edit], catalogue(), ceiling)
        standings.enter(
            Contender(
                number=number,
                team=child,
                key=child.content_hash,
                parent=parent,
                reason=prompt,
                scores=[0.8] * 20,
            )
        )
    return Merging(standings=standings, catalogue=catalogue(), ceiling=ceiling)


def prompts(merging: Merging, base: int, partner: int) -> dict[str, str] | None:
    candidates = merging.standings.candidates
    merged = merging.merge(candidates[base], candidates[partner])
    return merged and {name: agent.prompt for name, agent in merged.child.agents.items()}


def test_the_last_edit_of_a_candidate_is_made_in_another() -> None:
    merging = race((0, "writer", "A."), (0, "editor", "B."), (2, "writer", "C."))
    assert prompts(merging, 1, 2) == {"writer": "A.", "editor": "B."}
    assert prompts(merging, 3, 1) is None
    assert prompts(merging, 0, 3) == {"writer": "C.", "editor": PAIR.agents["editor"].prompt}


def test_a_conflict_says_who_decides_what() -> None:
    merging = race((0, "writer", "A."), (0, "writer", "B."), (0, "editor", "C."))
    assert prompts(merging, 1, 2) is None
    [conflict] = merging.conflicts.values()
    assert conflict.startswith("candidates 1 and 2: ")
    assert "writer" in conflict


def test_a_merge_conflicts_where_an_edit_of_it_does_and_that_is_said_once() -> None:
    merging = race((0, "writer", "A."), (0, "editor", "B."), (0, "writer", "C."))
    candidates = merging.standings.candidates
    for number, (base, partner) in enumerate(((1, 2), (2, 1)), start=4):
        merged = merging.merge(candidates[base], candidates[partner])
        assert merged is not None
        team = merged.child
        merging.standings.enter(
            Contender(number=number, team=team, parent=base, partner=partner, scores=[1.0])
        )
        assert merging.merge(candidates[number], candidates[3]) is None
    [conflict] = merging.conflicts.values()
    assert conflict.startswith("candidates 1 and 3: ")


def test_what_is_added_to_the_end_of_a_prompt_is_added_to_any_other() -> None:
    edits = [f"{PAIR.agents['writer'].prompt}\n{text}" for text in ("A.", "B.", "B.\nC.")]
    merging = race(
        *((parent, "writer", edit) for parent, edit in zip((0, 0, 2), edits, strict=True))
    )
    both = prompts(merging, 1, 2)
    assert both is not None
    assert both["writer"] == f"{edits[0]}\nB."
    later = prompts(merging, 1, 3)
    assert later is not None
    assert later["writer"] == f"{edits[0]}\nC."


def test_the_merge_is_made_that_scores_most_in_a_draw() -> None:
    merging = race((0, "writer", "A."), (0, "editor", "B."), (0, "editor", "C."))
    chosen = merging.choose([0.4, 0.3, 0.2, 0.1])
    assert chosen is not None
    assert {each.number for each in chosen[:2]} == {1, 2}
    assert merging.choose([0.4, 0.3, -0.2, -0.1]) is None
    assert merging.choose([0.4, -0.3, 0.2, 0.1]) is None  # both change the editor
