"""Which workers a fleet has, with a double of Ray; `test_ray` has the real one."""

import importlib.util
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from coterie.runtime.cluster.link import WorkerLost
from coterie.runtime.cluster.on import On
from coterie.runtime.cluster.ray_fleet import RayFleet

if importlib.util.find_spec("ray") is None:
    pytest.skip("Ray is not installed", allow_module_level=True)


class Actor:
    """An actor whose every method answers at once."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.asked: list[str] = []

    def __getattr__(self, method: str) -> Any:
        return _Method(self, method)


class _Method:
    def __init__(self, actor: Actor, name: str) -> None:
        self._actor, self._name = actor, name

    def remote(self, *_: Any, **__: Any) -> tuple[Actor, str]:
        self._actor.asked.append(self._name)
        return self._actor, self._name


class Ray:
    """What a fleet uses of Ray.

    Attributes:
        module: What uses it; importing that takes long.
        exceptions: Those of Ray itself.
        actors: All that were made.
        killed: Those that were ended.
        holds: The function that waits for `goes_on`, having set `waits`.
    """

    def __init__(self) -> None:
        from coterie.runtime.cluster import ray_fleet

        self.module = ray_fleet
        self.exceptions = ray_fleet.ray.exceptions
        self.actors: list[Actor] = []
        self.killed: list[Actor] = []
        self.is_here = True
        self.holds = ""
        self.waits, self.goes_on = threading.Event(), threading.Event()

    def fleet(self) -> RayFleet:
        return self.module.RayFleet(On(text="ray", address="local"))

    def is_initialized(self) -> bool:
        return self.is_here

    def nodes(self) -> list[dict[str, Any]]:
        self._reached("nodes")
        return [{"NodeID": "node", "Alive": True, "Resources": {"CPU": 2.0 * self.module.CPUS}}]

    def made(self, _node: str, _cpus: float) -> Actor:
        self.actors.append(Actor(len(self.actors)))
        return self.actors[-1]

    def wait(self, asked: list[Any], timeout: float) -> tuple[list[Any], list[Any]]:
        del timeout
        self._reached("wait")
        return asked, []

    def get(self, answer: tuple[Actor, str], timeout: float | None = None) -> dict[str, Any]:
        del timeout
        return {"refused": None, "host": f"worker {answer[0].number}", "tier": "some"}

    def _reached(self, function: str) -> None:
        if self.holds == function:
            self.waits.set()
            assert self.goes_on.wait(300)

    def kill(self, actor: Actor) -> None:
        self.killed.append(actor)


@pytest.fixture(name="ray")
def _ray(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ray]:
    ray = Ray()
    monkeypatch.setattr(ray.module, "ray", ray)
    monkeypatch.setattr(ray.module, "_actor", ray.made)
    yield ray
    ray.goes_on.set()
    join()


def join() -> None:
    """Wait until nobody starts workers any more."""
    for thread in threading.enumerate():
        if thread.name == "cluster-restart":
            thread.join(300)


def test_each_lost_worker_is_replaced_also_one_that_is_lost_meanwhile(ray: Ray) -> None:
    fleet = ray.fleet()
    first, second = fleet.alive()
    ray.holds = "nodes"
    fleet.lose(first)
    assert ray.waits.wait(300)  # it knows by now what is missing
    fleet.lose(second)
    ray.goes_on.set()
    join()
    assert [link.name for link in fleet.alive()] == ["worker 2", "worker 3"]
    assert ray.killed == ray.actors[:2]
    fleet.close()
    assert ray.killed == ray.actors


@pytest.mark.parametrize(("holds", "number"), [("nodes", 2), ("wait", 3)])
def test_no_worker_stays_that_came_too_late(ray: Ray, holds: str, number: int) -> None:
    fleet = ray.fleet()
    ray.holds = holds
    fleet.lose(fleet.alive()[0])
    assert ray.waits.wait(300)
    fleet.close()
    ray.goes_on.set()
    join()
    assert len(ray.actors) == number
    assert {actor.number for actor in ray.killed} == {*range(number)}


def test_nothing_is_asked_of_a_cluster_that_was_left(ray: Ray) -> None:
    """Ray would start another one, with all of the process's environment."""
    fleet = ray.fleet()
    link, _ = fleet.alive()
    ray.is_here = False
    with pytest.raises(WorkerLost, match="left the cluster"):
        link.ask("news", "jail", 1)
    link.tell("kill", "jail", "it is over")
    assert link.actor.asked == ["greet"]


def test_a_worker_that_is_late_is_named(ray: Ray, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: Any, **__: Any) -> Any:
        raise ray.exceptions.GetTimeoutError("Get timed out: some object(s) not ready.")

    fleet = ray.fleet()
    link, _ = fleet.alive()
    monkeypatch.setattr(ray, "get", late)
    with pytest.raises(WorkerLost, match="worker 0 did not answer in 60 seconds"):
        link.ask("end", "jail", 1, "it ran too long", seconds=60.0)
