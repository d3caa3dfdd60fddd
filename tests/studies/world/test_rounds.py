"""Teams that work in rounds: crafts, workings, coaching, and who rebuilds them."""

from dataclasses import replace

from studies.adaptation import world_of
from studies.world.minds import problem_of
from studies.world.rounds import CRAFTS, PARTS, Coaching, Graph, parts_of, said_by_all, worth
from studies.world.trials import DRAWN, LEVEL, Job, work

WORLD = replace(world_of(DRAWN, 0, ""), stranger=1.5, habit=0.4, dilution=0.05, loss=1.0)
PROBLEMS = [problem_of(f"Problem {number} of the harbour", PARTS) for number in range(40)]


def chain(crafts: list[str], coaching: Coaching = ()) -> Graph:
    """A team in which each reports to all later ones."""
    return Graph(
        crafts={craft: craft for craft in crafts},
        heard={craft: tuple(crafts[:place]) for place, craft in enumerate(crafts)},
        coaching=dict.fromkeys(crafts, coaching),
    )


def test_all_crafts_are_worth_more_than_one_and_strangers_less() -> None:
    for problem in PROBLEMS[:10]:
        wanted = [part.craft for part in parts_of(problem.title)]
        strange = [craft for craft in CRAFTS if craft not in wanted]
        whole = worth(WORLD, problem, chain(wanted))
        assert worth(WORLD, problem, chain(strange)) < worth(WORLD, problem, chain(wanted[:1]))
        assert worth(WORLD, problem, chain(wanted[:1])) < whole
        last = said_by_all(WORLD, problem, chain(wanted))[wanted[-1]]
        assert [item.craft for item in last] == wanted


def test_coaching_helps_where_it_is_apt_and_is_lost_among_other_neighbours() -> None:
    [problem] = PROBLEMS[:1]
    part = parts_of(problem.title)[0]
    alone = chain([part.craft])

    def told(of: frozenset[str]) -> float:
        coaching = {part.craft: tuple((aspect, of) for aspect in part.apt)}
        return worth(WORLD, problem, replace(alone, coaching=coaching))

    assert worth(WORLD, problem, alone) < told(frozenset())
    assert told(frozenset({"coder"})) == worth(WORLD, problem, alone)


def test_edits_lead_to_the_teams_that_they_name_and_to_none_in_a_circle() -> None:
    graph = chain(["coder", "reader", "writer"])
    grown = graph.changed({"add_agent": {"role": "planner", "reports_to": ["writer"]}})
    assert grown is not None
    assert grown.heard["writer"] == ("coder", "reader", "planner")
    gone = graph.changed({"remove_agent": {"agent": "reader"}})
    assert gone is not None
    assert gone.heard == {"coder": (), "writer": ("coder",)}
    assert graph.changed({"add_edge": {"sender": "writer", "receiver": "coder"}}) is None
    assert gone.changed({"remove_edge": {"sender": "reader", "receiver": "writer"}}) is None


def test_in_a_level_world_no_team_is_better() -> None:
    level = world_of(LEVEL, 0, "row")
    problem = PROBLEMS[3]
    wanted = [part.craft for part in parts_of(problem.title)]
    values = {round(worth(level, problem, chain(of)), 6) for of in (wanted, wanted[:2], ["coder"])}
    assert len(values) == 1


def test_a_team_adapts_for_as_many_rounds_as_it_may_and_no_answer_is_lost() -> None:
    outcome = work(Job(study="adaptation", world=DRAWN, row="joint", seed=1, tasks=2))
    assert (outcome.figures["rounds"], outcome.dropped) == (7, 0)
    assert len(outcome.scores) == 2
