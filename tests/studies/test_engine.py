"""The engine's benchmark works: every subject that needs no installation finishes correctly."""

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from coterie.runtime.values.missing import MissingProgram
from studies.engine import __main__ as engine
from studies.engine import streaming
from studies.engine.flame import picture, sampled
from studies.engine.workloads import workload

from ..support.processes import python, with_tests


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return python("-m", "studies.engine", *arguments, cwd=folder, env=with_tests())


def test_a_quick_run_measures_and_checks_every_subject(tmp_path: Path) -> None:
    done = run("--quick", "--subjects", "raw,aiohttp,coterie-recorded,coterie", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")][1:]
    assert [row.split("|")[1].strip() for row in rows] == [
        "raw",
        "aiohttp",
        "coterie-recorded",
        "coterie",
    ]
    assert "failed" not in done.stdout


def test_each_of_our_rows_has_aims_of_its_own() -> None:
    run_of = {"wall": 0.2, "cpu": 0.0095, "rss": 50.0, "error": ""}
    measured = {name: {cell.title: [run_of] for cell in engine.CELLS} for name in engine.SUBJECTS}
    floor = {**run_of, "wall": 0.1, "cpu": 0.0057}
    measured[engine.FLOOR] = {cell.title: [floor] for cell in engine.CELLS}
    rows = engine._targets(measured, []).splitlines()[3:]
    assert (
        "| coterie-recorded: makespan / critical path, vote at 50 ms | 2.00 | 1.1  | missed |"
        in rows
    )
    assert (
        "| coterie-recorded: makespan / critical path, debate at 50 ms | 1.00 | 1.1  | met |"
        in rows
    )
    of_aiohttp = "CPU per call / aiohttp's, debate | 1.67 |"
    assert f"| coterie-recorded: {of_aiohttp} 2  | met |" in rows
    assert f"| coterie: {of_aiohttp} 1.6  | missed |" in rows
    at_once = "100 debates at once / aiohttp's seconds"
    assert f"| coterie-recorded: {at_once} | 2.00 | 2  | met |" in rows
    del measured[engine.FLOOR]
    assert not any("aiohttp" in row for row in engine._targets(measured, []).splitlines())
    assert [*engine.SUBJECTS][2:4] == ["coterie-recorded", "coterie"]


def test_pieces_are_measured_beside_a_whole_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, least in (("RUNS", 1), ("AT_ONCE", 2), ("SIMULATED", "sim-0-3")):
        monkeypatch.setattr(streaming, name, least)
    with engine._simulator() as port:
        measured = streaming.in_pieces(f"http://127.0.0.1:{port}/v1")
    assert all(measured.values())
    rows = streaming.pieces_table(measured).splitlines()
    assert [row.split(" | ")[0] for row in rows[2:]] == [
        "| whole",
        "| in pieces",
        "| in pieces, aiohttp and json alone",
    ]


def test_an_unknown_subject_is_named(tmp_path: Path) -> None:
    done = run("--subjects", "none", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no subject 'none'. Known: raw, aiohttp" in done.stderr


def test_installing_without_uv_says_how_to_come_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "find_uv", lambda: None)
    with pytest.raises(MissingProgram, match=r"uv makes .* not installed.*\(.* pip install uv\)"):
        engine._install("langgraph")


def test_installing_with_no_uv_is_no_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV", str(tmp_path / "gone"))
    done = run("--install", "--subjects", "langgraph", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "gone' cannot be run: No such file or directory" in done.stderr
    monkeypatch.setenv("UV", "false")
    failed = run("--install", "--subjects", "langgraph", folder=tmp_path)
    assert failed.returncode == 1
    assert "false venv --quiet … failed with status 1; it says why above." in failed.stderr


@pytest.mark.parametrize(
    ("name", "agents", "edges", "seconds"),
    [("vote", 7, 6, 0.1), ("debate", 19, 78, 0.2), ("chain", 10, 9, 0.5), ("uneven", 13, 12, 1.4)],
)
def test_workloads_have_their_shapes(name: str, agents: int, edges: int, seconds: float) -> None:
    team = workload(name, 0.05)
    assert len(team.agents) == agents
    assert sum(len(before) for _, before in team.agents.values()) == edges
    assert team.critical_path == pytest.approx(seconds)
    assert team.output == list(team.agents)[-1]


def test_a_flame_graph_shows_who_called_whom_as_wide_as_it_took() -> None:
    stacks = Counter({("a:main", "b:work"): 3, ("a:main", "c:rest"): 1})
    drawn = picture(stacks, 0.016)
    assert "4 looks, one every 4.0 ms of CPU" in drawn
    assert drawn.count("<rect") == 3
    assert "b:work: 75.0%" in drawn
    assert 'width="900.0"' in drawn


def test_the_sampler_sees_where_the_time_goes() -> None:
    with sampled() as stacks:
        for _ in range(100_000):
            for _ in range(10_000):
                pass
            if stacks.total() >= 20:
                break
    assert stacks.total() >= 20
    assert (
        sum(stacks[stack] for stack in stacks if "test_the_sampler" in stack[-1])
        > stacks.total() / 2
    )


def test_a_flame_graph_in_a_missing_folder_is_refused_before_anything_runs(tmp_path: Path) -> None:
    done = run("--flame", "none/graph.svg", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "error: --flame none/graph.svg: there is no folder 'none'.\n"
