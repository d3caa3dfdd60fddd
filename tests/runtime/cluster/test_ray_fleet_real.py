"""Real Ray: nodes on this machine, workers and the driver killed, results as without it."""

import contextlib
import importlib.util
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.cluster.host import JailWorker
from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request

from ...benchmarks.repair.test_benchmark import folder_of
from ...repairs import RIGHT, needs_jail
from ...waiting import wait_for
from .links import require_places

pytestmark = [
    needs_jail,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed"),
]

HERE = Path(__file__).parent
COMMANDS = (
    f"git apply - <<'END'\n{RIGHT}END",
    "sleep 0.4; python3 -c 'import doubling; print(doubling.double(3))'",
    "ls; sleep 0.4",
    "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT",
)
ACTOR = f"ray::{JailWorker.__name__}".encode()
"""What the command line of a worker begins with."""
TASKS = 3
CALLS = TASKS * (1 + len(COMMANDS))
"""Of a run of the benchmark: for each task one of the analyst, and one for each command."""
RECIPE = """\
strategy: evomas
seeds: [solo.yaml, pair.yaml]
settings: {
  parents: 2, steps: 1, instantiate: false, components: [prompts], moves: [mutate], choice: chance,
  select: statistics, parent: best, admission: best, memory: 0
}
"""
TEAMS = {
    "solo": 'name: solo\nagents:\n  one: {agent_type: CodeAgent, prompt: "You are alone."}\n',
    "pair": """\
name: pair
agents:
  one: {agent_type: CodeAgent, prompt: "You are [one]."}
  two: {agent_type: CodeAgent, prompt: "You are [two]."}
topology: {reports_to: {one: [two]}}
""",
}


def repairing(request: Request) -> Reply:
    """Be an analyst, or an engineer who has done as many steps as it has answered."""
    if "You are the analyst" in message_text(request):
        return Reply(text="The cause is in the code.")
    done = sum(message["role"] == "assistant" for message in request["messages"])
    return Reply.tool("bash", command=COMMANDS[done])


def thinking(request: Request) -> Reply:
    """Be an agent that is right when told to think, or an operator who tells it so."""
    form = request.get("response_format", {}).get("json_schema", {}).get("schema", {})
    if "edits" in form.get("properties", {}):
        agent = "two" if '"two"' in json.dumps(form) else "one"
        edit = {"set_prompt": {"agent": agent, "prompt": "Think."}}
        return Reply.json({"reason": "it did not think", "edits": [edit]})
    right = "Think." in message_text(request)
    return Reply.code(f"open('made', 'a').write('x')\nfinal_answer('{7 if right else 8}')")


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """The cluster of some nodes.

    Attributes:
        address: As `--on` takes it.
        nodes: The process of each node, of which its workers are children.
    """

    address: str
    nodes: tuple[int, ...]
    kills: list[int] = field(default_factory=list[int])

    def workers(self) -> list[int]:
        """Return the processes that host jails."""
        children = (
            Path(f"/proc/{task}/task/{task}/children").read_text("ascii").split()
            for task in self.nodes
        )
        return [int(child) for texts in children for child in texts if _is_host(child)]

    def kill_one(self, chance: random.Random) -> bool:
        """Kill a worker with -9, if there is one."""
        workers = self.workers()
        if workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(workers), signal.SIGKILL)
                self.kills.append(1)
        return bool(workers)

    @contextlib.contextmanager
    def losing(self, most: int, seed: int) -> Generator[None]:
        """Kill workers at random moments for as long as the block lasts."""
        chance, over = random.Random(seed), threading.Event()
        end = len(self.kills) + most

        def kill() -> None:
            while not over.wait(chance.uniform(0.5, 4)) and len(self.kills) < end:
                self.kill_one(chance)

        thread = threading.Thread(target=kill)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def _is_host(process: str) -> bool:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().startswith(ACTOR)
    except OSError:  # it has ended
        return False


def _environment() -> dict[str, str]:
    return {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "PYTHONWARNINGS": "ignore"}


@pytest.fixture(scope="module")
def cluster(nightly: bool) -> Iterator[Cluster]:
    require_places()
    with subprocess.Popen(
        [sys.executable, str(HERE / "cluster_of_nodes.py"), "3" if nightly else "2"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(),
        text=True,
    ) as started:
        assert started.stdout is not None
        assert started.stdin is not None
        address, *nodes = started.stdout.readline().split()
        yield Cluster(address=f"ray:{address}", nodes=tuple(map(int, nodes)))
        started.stdin.close()
        started.wait(300)


def command(*words: str) -> list[str]:
    return [str(Path(sys.executable).with_name(words[0])), *words[1:]]


def ran(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*words),
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def bench(model: ScriptedModel, data: Path, results: str, *more: str) -> list[str]:
    chosen = ("--model", f"m@{model.api_base}", "--data", str(data), "--results", results)
    words = ("mas-bench", "run", "swe-bench", "--team", "seed:code_repair", *chosen)
    return [*words, "--quiet", "--trials", "1", "--budget", f"calls={CALLS + 1}", *more]


def figures(folder: Path) -> Any:
    """Return what has to be equal of an evaluation, wherever its code ran."""
    (results,) = folder.iterdir()
    result: list[Any] = []
    for line in (results / "samples.jsonl").read_text("utf-8").splitlines():
        value = json.loads(line)
        result.append(_without_times(value))
    return sorted(result, key=json.dumps)


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        left = {k: v for k, v in value.items() if not re.search("second|time|started|log", k)}
        return {name: _without_times(item) for name, item in left.items()}
    return [*map(_without_times, value)] if isinstance(value, list) else value


@pytest.fixture
def data(tmp_path: Path) -> Path:
    data, instance = folder_of(tmp_path)
    rows = [
        {**instance.reference(), "instance_id": f"small__doubling-{number}",
         "problem_statement": "double(3) gives 5."}
        for number in range(TASKS)
    ]  # fmt: skip
    (data / "instances.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return data


def resuming(evaluations: Path, cluster: Cluster) -> tuple[str, ...]:
    (results,) = evaluations.iterdir()
    return ("mas-bench", "resume", str(results), "--quiet", "--on", cluster.address)


@pytest.mark.nightly
def test_repairs_survive_killed_workers_and_a_killed_driver(
    cluster: Cluster,
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ScriptedModel(repairing) as model:
        completed = ran(tmp_path, *bench(model, data, "here"))
        assert (completed.returncode, len(model.calls)) == (0, CALLS), completed.stderr
    expected = figures(tmp_path / "here")
    kills, rounds, number = 30, 100, 0
    for number in range(rounds):
        with ScriptedModel(repairing) as model:
            words = bench(model, data, f"there-{number}", "--on", cluster.address)
            with cluster.losing(kills - len(cluster.kills), number):
                completed = ran(tmp_path, *words)
            if completed.returncode == 1:  # the same work was lost more often than anyone is moved
                assert "The worker with the jail is lost" in completed.stderr
                completed = ran(tmp_path, *resuming(tmp_path / f"there-{number}", cluster))
            assert completed.returncode == 0, completed.stderr
            assert len(model.calls) == CALLS, "nothing is paid twice"
        assert figures(tmp_path / f"there-{number}") == expected
        if len(cluster.kills) >= kills:
            break
    assert len(cluster.kills) >= kills
    with capsys.disabled():
        sys.stdout.write(f"\n{len(cluster.kills)} workers killed in {number + 1} evaluations\n")

    with ScriptedModel(repairing) as model:
        words = bench(model, data, "driven", "--on", cluster.address)
        with subprocess.Popen(
            command(*words), cwd=tmp_path, env=_environment(), stderr=subprocess.DEVNULL
        ) as driver:
            wait_for(lambda: len(model.calls) >= CALLS // 2, "half of the calls")
            driver.kill()
        completed = ran(tmp_path, *resuming(tmp_path / "driven", cluster))
        assert completed.returncode == 0, completed.stderr
        # A call that was under way when the driver was killed is made again.
        assert CALLS <= len(model.calls) <= CALLS + TASKS
    assert [figure["score"] for figure in figures(tmp_path / "driven")] == [
        item["score"] for item in expected
    ]
    wait_for(lambda: not cluster.workers(), "the workers of a killed driver end")


@pytest.mark.nightly
def test_an_evolution_of_code_agents_is_as_here(cluster: Cluster, tmp_path: Path) -> None:
    """Also tried on every change of the cluster's code (.ci/run)."""
    for name, text in {**TEAMS, "recipe": RECIPE}.items():
        (tmp_path / f"{name}.yaml").write_text(text, "ascii")
    tasks = [{"id": f"t{n}", "query": f"What is {n} + {7 - n}?", "answer": "7"} for n in range(2)]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(t) + "\n" for t in tasks), "ascii")
    pools: list[dict[str, str]] = []
    asked: list[int] = []

    def losing(request: Request) -> Reply:
        if not cluster.kills:
            cluster.kill_one(random.Random(7))
        return thinking(request)

    for pool, more in (("here", ()), ("there", ("--on", cluster.address))):
        with ScriptedModel(losing if more else thinking) as model:
            words = ("mas-evolve", "recipe.yaml", "tasks.jsonl", "--pool", pool, "--quiet")
            chosen = ("--model", f"m@{model.api_base}", "--embedder", "hashing")
            completed = ran(tmp_path, *words, *chosen, *more)
            assert completed.returncode == 0, completed.stderr
            asked.append(len(model.calls))
        kept = sorted((tmp_path / pool).rglob("*.yaml"))
        pools.append({str(path.relative_to(tmp_path / pool)): path.read_text() for path in kept})
    assert pools[0]
    assert pools[0] == pools[1]
    assert asked[0] == asked[1]
    assert len(cluster.kills) == 1


@pytest.mark.nightly
def test_a_cluster_of_this_machine_alone(tmp_path: Path) -> None:
    require_places()
    (tmp_path / "team.yaml").write_text(TEAMS["solo"], "ascii")
    secret = "sk-proj-Abc123Abc123Abc123Abc123"
    environment = {**_environment(), "SOME_SECRET": secret}
    with ScriptedModel(Reply.code("final_answer(6 * 7)")) as model:
        words = ("mas-run", "team.yaml", "-q", "What is it?", "--model", f"m@{model.api_base}")
        with subprocess.Popen(
            [*command(*words), "--on", "ray"],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as started:
            seen: list[bytes] = []
            while started.poll() is None:
                seen += _environments_of_hosts()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    started.wait(0.1)
            out, err = started.communicate()
    assert (started.returncode, out) == (0, "42\n"), err
    assert seen, "no worker was seen"
    assert not any(secret.encode() in content for content in seen)


def _environments_of_hosts() -> Iterator[bytes]:
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (folder / "cmdline").read_bytes().startswith(ACTOR):
                yield (folder / "environ").read_bytes()
