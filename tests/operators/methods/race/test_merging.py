"""Merges: the edits of one candidate made in another, or what both decide."""

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


def test_those_are_merged_that_are_expected_to_gain_and_do_in_a_draw() -> None:
    merging = race((0, "writer", "A."), (0, "editor", "B."), (0, "editor", "Bad."))
    merging.standings.candidates[3].scores = [0.0] * 20
    merging.standings.refresh()
    base = merging.standings.candidates[1]
    chosen = merging.choose(base, [0.4, 0.3, 0.2, 0.9])
    assert chosen is not None
    assert (chosen[0].number, round(chosen[1], 6)) == (2, 0.2)
    assert merging.choose(base, [0.4, 0.3, -0.2, 0.9]) is None
