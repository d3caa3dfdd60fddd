"""`mas-evolve --test`: the deployable team's score on tasks that nothing evolved on comes first."""

import json

from coterie.pool import Pool, most_promising

from .conftest import HELD_OUT, RECIPE, TASKS, Lab, judging

TEST = ("--test", "test.jsonl", "--repeats", "2")


def test_the_report_begins_with_the_held_out_score_of_the_deployed_team(lab: Lab) -> None:
    result = lab.evolve(*TEST).ended(0)
    best = most_promising(Pool.open("pool"))[0].name
    gain, first, *others = result.out.splitlines()
    assert gain.startswith("held out, 4 tasks x 2 repeats: gain +1.000 [")
    assert "over the control, the same without the lessons" in gain
    assert first.startswith(f"  {best} 1.000 [0.510, 1.000]")
    assert "tokens" in first
    assert [line.split()[:2] for line in others[:2]] == [["pair", "(control)"], ["solo", "(seed)"]]
    assert all(f"{best} scores +1.000 [" in line for line in others[:2])
    assert "each task's best candidate, chosen by the reference answers" in result.out
    assert (
        result.out.index("held out") < result.out.index("online") < result.out.index("best team:")
    )


def test_json_has_the_held_out_figures_with_intervals_and_costs(lab: Lab) -> None:
    report = lab.evolve(*TEST, "--json").json
    assert next(iter(report)) == "held_out"
    deployed, *others = report["held_out"]["teams"]
    assert deployed["score"] == 1.0
    agents = Pool.open("pool").members[deployed["team"]].team.agents
    assert deployed["each"]["calls"] == len(agents)
    assert deployed["each"]["tokens"] > 0
    assert deployed["each"]["usd"] is None
    assert {other["team"] for other in others} == {"solo", "pair"}
    assert all(other["score"] == 0.0 and other["difference"] == 1.0 for other in others)
    # Won on every task; but so few of them do not tell teams apart for sure.
    assert all(other["difference_interval"][0] < 1.0 for other in others)
    assert all(other["difference_interval"][1] == 1.0 for other in others)
    assert (report["held_out"]["gain"], report["held_out"]["control"]) == (1.0, "pair")
    assert report["held_out"]["gain_interval"] == others[0]["difference_interval"]
    assert report["chosen_by"] == "the answers"


def test_selection_never_sees_a_held_out_trial(lab: Lab) -> None:
    assert lab.evolve("--limit", "3").code == 0
    before = {member.name: member.statistics for member in Pool.open("pool").members.values()}
    assert lab.evolve("--limit", "3", *TEST).code == 0
    pool = Pool.open("pool")
    assert {member.name: member.statistics for member in pool.members.values()} == before
    tested = [item for item in lab.ledger() if item.get("split") == "test"]
    assert {item["task"] for item in tested} == {fields["id"] for fields in HELD_OUT}
    assert {pool.members[name].on(split="test").n for name in ("solo", "pair")} == {8}


def test_a_test_that_a_budget_stops_goes_on_and_nothing_is_paid_twice(lab: Lab) -> None:
    clean = lab.evolve(*TEST, pool="clean")
    evolved = lab.evolve().ended(0)
    stopped = lab.evolve(*TEST, "--budget", f"calls={evolved.calls + 9}").ended(3)
    assert stopped.calls == 9
    assert "no held-out score" in stopped.out
    done = lab.evolve(*TEST).ended(0)
    assert evolved.calls + stopped.calls + done.calls == clean.calls
    assert lab.ledger("clean") == lab.ledger()
    again = lab.evolve(*TEST)
    assert (again.calls, again.out) == (0, done.out)


def test_tasks_that_were_evolved_on_are_no_test_by_words_or_by_id(lab: Lab) -> None:
    same_words = {**TASKS[1], "id": "other", "query": f"  {TASKS[1]['query'].upper()} "}
    same_id = {**HELD_OUT[0], "id": "t0"}
    lab.tasks("test.jsonl", [same_words, HELD_OUT[1], same_id])
    result = lab.evolve(*TEST)
    assert (result.code, result.calls) == (2, 0)
    assert (
        "2 held-out tasks of 3 are learnt from: task 'other' (test.jsonl:1) is task 't1'"
        " (tasks.jsonl:2) by its words; task 't0' (test.jsonl:3) is task 't0' (tasks.jsonl:1) by"
        " its id." in result.err
    )
    assert not (lab.folder / "pool").exists()


def test_what_another_evolution_of_the_pool_learnt_from_is_no_test_either(lab: Lab) -> None:
    lab.evolved(2)
    lab.tasks("test.jsonl", [{**TASKS[0], "id": "renamed"}])
    lab.tasks("tasks.jsonl", TASKS[3:])
    result = lab.evolve(*TEST, "--name", "second")
    assert (result.code, result.calls) == (2, 0)
    manifest = "pool/evolutions/recipe/evolution.json"
    assert f"task 'renamed' (test.jsonl:1) is {manifest} by its words" in result.err


def test_a_team_beside_and_one_that_the_pool_has_not_are_tested(lab: Lab) -> None:
    text = (lab.folder / "solo.yaml").read_text()
    lab.write("other.yaml", text.replace("alone", "here. Think.").replace("solo", "other"))
    report = lab.evolve("--limit", "2", *TEST, "--beside", "other.yaml", "--json").json
    other = report["held_out"]["teams"][-1]
    assert (other["team"], other["role"], other["score"]) == ("other", "beside", 1.0)
    assert "other" not in Pool.open("pool").teams


def test_without_a_file_the_report_says_how_to_have_a_held_out_score(lab: Lab) -> None:
    result = lab.evolve("--limit", "1")
    assert result.out.startswith("no held-out score; add one with --test FILE\n")
    result = lab.evolve("--repeats", "2").ended(2)
    assert "--test TASKS" in result.err


def test_held_out_figures_of_an_earlier_pool_say_so(lab: Lab) -> None:
    assert lab.evolve("--limit", "2", *TEST).code == 0
    result = lab.evolve("--limit", "3")
    assert "(the pool after 2 tasks of 3)" in result.out
    kept = json.loads((lab.folder / "pool/evolutions/recipe/heldout.json").read_text())
    assert len(kept["trials"]) == 3 * 4 * 2


def test_a_held_out_task_without_an_answer_is_judged(lab: Lab) -> None:
    lab.tasks("test.jsonl", [{"id": "open", "query": "What is good?"}, HELD_OUT[0]])
    lab.write("recipe.yaml", RECIPE + "judge_samples: 2\n")
    report = lab.evolve("--limit", "1", *TEST, "--json", script=judging(1.0)).json
    seeds = [team for team in report["held_out"]["teams"] if team["is_seed"]]
    assert [seed["score"] for seed in seeds] == [0.5, 0.5]
    assert report["chosen_by"] == "the answers"
    kept = json.loads((lab.folder / "pool/evolutions/recipe/heldout.json").read_text())
    judged = [trial for trial in kept["trials"] if trial["task"] == "open"]
    assert {item["scored_by"] for item in judged} == {"judge"}
    assert all(item["judging"]["calls"] == 2 for item in judged)


def test_a_judge_without_a_verdict_leaves_no_score_and_is_counted(lab: Lab) -> None:
    lab.tasks("test.jsonl", [{"id": "open", "query": "What is good?"}, HELD_OUT[0]])
    result = lab.evolve("--limit", "1", *TEST, "--json", script=judging("high")).ended(0)
    assert all(team["unscored"] == 2 for team in result.json["held_out"]["teams"])
    lost = 2 * len(result.json["held_out"]["teams"])
    assert f"  {lost} trials without a score" in lab.report("pool").out
    failed = [item for item in lab.ledger() if item["kind"] == "failed"]
    assert {(item["task"], item["split"]) for item in failed} == {("open", "test")}


def test_the_command_evolves_and_tests_teams_that_recall_and_names_the_embedder(lab: Lab) -> None:
    lab.write("solo.yaml", 'name: solo\nagents:\n  one: {prompt: "Alone.", recall: {k: 2}}\n')
    lab.write("recipe.yaml", "strategy: fixed\nseeds: [solo.yaml]\n")
    lab.evolve("--embedder", "hashing", "--test", "test.jsonl", "--repeats", "1").ended(0)
    manifest = json.loads((lab.folder / "pool/evolutions/recipe/evolution.json").read_text())
    assert manifest["embedder"].startswith("hashing")
    assert lab.evolve("--embedder", "nobody").code == 2
