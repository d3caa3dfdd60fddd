"""What `--on` may say; what it cannot is told in a sentence, before anything is spent."""

import asyncio
import importlib.util
import json
import socket
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

from coterie.benchmarks.command import main as bench
from coterie.operators.command.evolve import main as evolve
from coterie.runtime import Setting, compile, open_services
from coterie.runtime.cluster.on import On
from coterie.runtime.cluster.opening import Unopened, open_workers
from coterie.runtime.command.run import main as run
from coterie.runtime.doubles import ScriptedModel
from coterie.runtime.jail import Jails
from coterie.schema import Catalogue, InputError, JailError, parse_team

from ...support.commands import invoked

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed"
)


@needs_ray
@pytest.mark.parametrize(
    ("message", "address", "host", "port"),
    [
        ("ray", "local", "", 0),
        ("ray:auto", "auto", "", 0),
        ("ray:head:6379", "head:6379", "head", 6379),
        ("ray:[::1]:6379", "[::1]:6379", "::1", 6379),
        ("ray://10.0.0.1:10001", "ray://10.0.0.1:10001", "10.0.0.1", 10001),
    ],
)
def test_what_is_known(message: str, address: str, host: str, port: int) -> None:
    assert On.parse(message) == On(text=message, address=address, host=host, port=port)


@pytest.mark.parametrize(
    "message",
    [
        "",
        "rey",
        "ray:",
        "ray:automatic",
        "ray:head",
        "ray:head:port",
        "ray:///",
        "http://h:1",
        "ray:a b:1",
    ],
)
def test_what_means_nothing(message: str) -> None:
    with pytest.raises(InputError, match=r"is not a cluster\. Write ray "):
        On.parse(message)


@pytest.mark.parametrize("port", ["0", "65536"])
def test_what_is_no_port(port: str) -> None:
    with pytest.raises(InputError, match="invalid port"):
        On.parse(f"ray:head:{port}")


def test_without_ray_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coterie.runtime.cluster.on.find_spec", lambda _name: None)
    with pytest.raises(InputError, match=r"not installed\. Run: .*\[ray\]"):
        On.parse("ray")


def test_no_jail_is_not_for_other_machines() -> None:
    with pytest.raises(InputError, match="--on ray and --unsafe-local: on a cluster"):
        Setting(on="ray", unsafe_local=True)


def a_port_of_nobody() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        return int(server.getsockname()[1])


@needs_ray
def test_an_address_that_nobody_answers() -> None:
    on = On.parse(f"ray:127.0.0.1:{a_port_of_nobody()}")
    with pytest.raises(InputError, match=r"nothing answers at 127\.0\.0\.1"):
        asyncio.run(open_workers(on))
    with pytest.raises(InputError, match=r"nothing answers at 127\.0\.0\.1"):
        Jails(place=Unopened(on)).check()


@needs_ray
def test_a_cluster_that_is_not_open_yet(tmp_path: Path) -> None:
    jails = Jails(place=Unopened(On.parse("ray")))
    jails.check()
    assert jails.describe() == {"on": "ray"}
    with pytest.raises(JailError, match="not open yet"):
        jails.open(tmp_path)


COMMANDS: list[tuple[click.Command, list[str]]] = [
    (run, ["solo.yaml", "-q", "x"]),
    (bench, ["run", "arithmetic", "--team", "solo.yaml", "--limit", "1"]),
    (evolve, ["recipe.yaml", "tasks.jsonl", "--pool", "pool"]),
]


@needs_ray
@pytest.mark.parametrize(("main", "words"), COMMANDS, ids=["run", "bench", "evolve"])
def test_commands_end_with_one_sentence_and_2(
    main: click.Command,
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "solo.yaml").write_text('name: solo\nagents: {a: {prompt: "Say."}}\n', "ascii")
    (tmp_path / "recipe.yaml").write_text("strategy: fixed\nseeds: [solo.yaml]\n", "ascii")
    task = {"id": "t", "query": "1 + 1?", "answer": "2"}
    (tmp_path / "tasks.jsonl").write_text(json.dumps(task) + "\n", "ascii")
    nobody = f"ray:127.0.0.1:{a_port_of_nobody()}"
    for on, name in (("rey", "is not a cluster"), (nobody, "nothing answers at")):
        with ScriptedModel("x") as model:
            chosen = ["--model", f"m@{model.api_base}", "--on", on]
            result = invoked(main, [*words, *chosen], "mas")
            assert not model.calls
        assert result.code == 2
        assert name in result.err
        assert "Traceback" not in result.err
        assert not (tmp_path / "pool").exists()


class Waited:
    """A cluster that says nothing until `is_there` is set."""

    def __init__(self) -> None:
        self.is_there = threading.Event()

    def check(self) -> None:
        if not self.is_there.wait(300):
            raise InputError("nobody came")


async def test_nothing_else_waits_while_a_worker_is_waited_for() -> None:
    known = Catalogue.of_host()
    text = b'name: solo\nagents: {a: {agent_type: CodeAgent, prompt: "Say."}}\n'
    plan = compile(parse_team(text, "solo.yaml", known), known)
    place: Any = Waited()
    async with open_services(known, Setting()) as services:
        asyncio.get_running_loop().call_soon(place.is_there.set)
        here = replace(services, jails=Jails(place=place))
        await here.prepare(plan, offline=True)
