"""A crew: what its defects cost, what mends each, and what it notes when it looks back."""

from dataclasses import replace
from statistics import fmean

import pytest

from coterie.runtime.gateway import ChatRequest
from studies.retrospect import world_of
from studies.world.crews import LEAD, PARTS, Member, crew_of, prompt_of, worked
from studies.world.marks import mark, marks
from studies.world.tasks import answer_in, stream
from studies.world.trials import DRAWN, Job, work

WORLD = replace(world_of(DRAWN, 3, "full"), forgetting=0.0, mishearing=0.0, answer_tokens=0)
CREW = crew_of(WORLD)


def asked(instructions: str, shown: str) -> str:
    messages = [{"role": "system", "content": instructions}, {"role": "user", "content": shown}]
    return worked(WORLD, ChatRequest(model="default", messages=messages))


def rates(notes: str = "", rules: str = "", newcomer: str = "") -> dict[str, float]:
    """How often the parts of each craft come out right, in a team that holds something more."""
    right: dict[str, list[bool]] = {}
    members = [*CREW.members]
    if newcomer:
        members.append(Member(craft=newcomer, place=CREW.place, detail=""))
    for task in stream(WORLD, 0, 200):
        reports = [asked(f"{prompt_of(member)} {rules}", task.query) for member in members]
        lead = f"{mark('lead', CREW.place)} {notes}"
        answer = answer_in(asked(lead, "\n".join([task.query, *reports])))
        for number in range(PARTS):
            hit = answer[number] == str(task.answer)[number]
            right.setdefault(CREW.of_part(number), []).append(hit)
    return {craft: fmean(hits) for craft, hits in right.items()}


def test_each_defect_costs_its_parts_and_has_a_remedy_of_its_own() -> None:
    niche = WORLD.niches["orchard"]
    far, omits = CREW.members[0], CREW.members[2]
    before = rates()
    for craft in (CREW.missing, far.craft, omits.craft):
        assert before[craft] == pytest.approx(niche.unable, abs=0.12)
    mended = rates(
        notes=mark("counts", far.craft, far.place),
        rules=mark("rule", omits.detail),
        newcomer=CREW.missing,
    )
    for craft in (CREW.missing, far.craft, omits.craft):
        assert mended[craft] == pytest.approx(niche.able, abs=0.12)
    untouched = CREW.members[1].craft
    assert mended[untouched] == pytest.approx(before[untouched], abs=0.12)


def test_a_sound_crew_lacks_nothing_and_forgets_now_and_then() -> None:
    sound = replace(WORLD, sound=True, forgetting=1.0)
    assert (crew_of(sound).missing, len(crew_of(sound).members)) == ("", 5)
    member, task = crew_of(sound).members[0], stream(sound, 0, 1)[0]
    records = [
        {"role": "system", "content": prompt_of(member)},
        {"role": "user", "content": task.query},
    ]
    request = ChatRequest(model="default", messages=records)
    forgot = marks(worked(sound, request), "part")
    assert {detail for *_, detail in forgot} == {"-"}
    careful = marks(worked(replace(sound, forgetting=0.0), request), "part")
    assert {detail for *_, detail in careful} == {member.detail}


def test_a_crew_that_looks_back_notes_what_mends_it() -> None:
    def outcome(row: str) -> tuple[float, float]:
        done = work(Job(study="retrospect", world=DRAWN, row=row, seed=0, tasks=8, test=8))
        return done.score, done.figures["useful"]

    (full, notes), (unchanged, none) = outcome("full"), outcome("no evolution")
    assert unchanged + 0.2 < full
    assert (notes >= 3, none) == (True, 0)
    assert LEAD not in {member.craft for member in CREW.members}
