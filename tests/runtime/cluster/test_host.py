"""A worker's side: what it keeps, what it refuses, and what travels in pieces."""

import asyncio
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.cluster.contents import Contents
from coterie.runtime.cluster.host import ALONG, JailWorker, harmless, same_everywhere
from coterie.runtime.cluster.opening import TRIES, Workers
from coterie.runtime.jail import JailLimits, JailRequest, Jails, Shell
from coterie.runtime.jail.detect import detect
from coterie.schema.values.errors import InputError, JailError

from .links import NearFleet, near, require_places


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_contents_stay_as_long_as_there_is_room(tmp_path: Path) -> None:
    contents = Contents(tmp_path / "contents", limit=25)
    texts = [bytes([letter]) * 10 for letter in b"abc"]
    names = [digest(text) for text in texts]
    for name, text in zip(names[:2], texts, strict=False):
        contents.keep("a jail", name, text[:3], last=False)
        contents.keep("a jail", name, text[3:], last=True)
    with contents.held(names) as missing:
        assert missing == names[2:]
        contents.keep("a jail", names[2], texts[2], last=True)
        assert [b"".join(contents.pieces(name)) for name in names] == texts
    assert contents.missing([*names, *names]) == names[:1], "what was used longest ago went"
    with contents.held(names[1:2]):
        pass
    contents.keep("a jail", names[0], texts[0], last=True)
    with contents.held([]):
        pass
    assert contents.missing(names) == names[2:]


def test_another_content_is_not_kept(tmp_path: Path) -> None:
    contents = Contents(tmp_path / "contents", limit=25)
    with pytest.raises(JailError, match="changed while it was being sent"):
        contents.keep("a jail", digest(b"one"), b"other", last=True)
    assert contents.missing([digest(b"one")])
    assert list((tmp_path / "contents").iterdir()) == []
    (tmp_path / "contents").rmdir()
    with pytest.raises(JailError, match="cannot store a file"):
        contents.keep("a jail", digest(b"one"), b"one", last=True)


def test_what_is_sent_once_is_not_sent_again(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("the same", "ascii")
        (tmp_path / name / "own").write_text(name, "ascii")
    with near(1) as (jails, fleet):
        sent: list[list[tuple[str, bytes, bool]]] = []
        ask = fleet.links[0].ask

        def asked(method: str, *a: Any, **named: Any) -> Any:
            if method == "keep":
                sent.append(a[1])
            return ask(method, *a, **named)

        fleet.links[0].ask = asked  # type: ignore[method-assign]
        for name in ("one", "two", "two"):
            with jails.open(tmp_path / name) as jail:
                assert Shell(jail).run("cat file own").output == f"the same{name}"
    assert [sorted(text for _, text, _ in pieces) for pieces in sent] == [
        [b"one", b"the same"],
        [b"two"],
    ]


def test_large_files_travel_in_pieces(tmp_path: Path) -> None:
    large = os.urandom(2 * ALONG + 17)
    (tmp_path / "large").write_bytes(large)
    for number in range(3):
        (tmp_path / f"half-{number}").write_bytes(os.urandom(ALONG // 2 + number))
    with near(1) as (jails, fleet):
        with jails.open(tmp_path) as jail:
            done = Shell(jail).run("sha256sum large; cat large large > twice; rm half-0; echo x >y")
            assert digest(large) in done.output
        assert fleet.links[0].asked.count("keep") >= 4
        assert "piece" in fleet.links[0].asked
    assert (tmp_path / "twice").read_bytes() == large * 2
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "half-1", "half-2", "large", "twice", "y",
    ]  # fmt: skip


def test_more_than_the_limit_does_not_come_back(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old", "ascii")
    with near(1) as (jails, _):
        jail = jails.open(tmp_path, JailRequest(limits=JailLimits(disk=1 << 20)))
        Shell(jail).run("truncate -s 200M sparse; echo new > old")
        with pytest.raises(JailError, match="has more than"):
            jail.close()
    assert (tmp_path / "old").read_text("ascii") == "old"
    assert not (tmp_path / "sparse").exists()


def test_what_a_worker_lacks_is_named(tmp_path: Path) -> None:
    with near(1) as (jails, _), pytest.raises(JailError, match=r"has no /no/such/place\. Software"):
        jails.open(tmp_path, JailRequest(readable=(Path("/no/such/place"),)))


def greeted(driver: dict[str, str]) -> dict[str, Any]:
    async def greet() -> dict[str, Any]:
        host = JailWorker()
        report = await host.greet(driver)
        await host.shut()
        return report

    return asyncio.run(greet())


def test_a_worker_says_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    require_places()
    monkeypatch.setenv("SOME_KEY", "secret")
    fields = greeted(same_everywhere())
    tier = detect().tier
    assert (fields["refused"], fields["tier"]) == (None, tier and tier.name)
    assert "SOME_KEY" not in os.environ


def test_a_worker_of_other_software_refuses() -> None:
    require_places()
    fields = greeted({**same_everywhere(), "coterie": "0.0.1"})
    assert "it has other software: coterie is '0.0.1' for the driver" in fields["refused"]


def test_a_worker_without_a_jail_with_mounts_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    from coterie.runtime.cluster import host
    from coterie.runtime.jail.detect import JailReport, TierAttempt
    from coterie.runtime.jail.tiers import Landlock

    result = JailReport(
        tier=None, attempts=(TierAttempt(tier="bubblewrap", failure="it is not there"),)
    )
    monkeypatch.setattr(host, "detect", lambda: result)
    assert "no jail for agents' code on this machine" in greeted(same_everywhere())["refused"]
    result = JailReport(tier=Landlock(), attempts=())
    assert "cannot mount folders" in greeted(same_everywhere())["refused"]


def test_only_what_is_harmless_goes_to_workers() -> None:
    environment = {"PATH": "/bin", "LC_ALL": "C", "RAY_AUTH_MODE": "token", "PYTHONPATH": "x"}
    assert harmless({**environment, "OPENAI_API_KEY": "k", "HTTPS_PROXY": "p"}) == environment


def test_workers_that_are_lost_while_a_jail_is_opened(tmp_path: Path) -> None:
    require_places()

    class Unlucky(NearFleet):
        def lose(self, link: Any) -> None:
            super().lose(link)
            for item in self.links:
                item.die()

    fleet = Unlucky(1)
    fleet.links[0].die()
    with pytest.raises(JailError, match=f"{TRIES} workers were lost"):
        Jails(place=Workers(fleet)).open(tmp_path)
    assert len(fleet.lost) == TRIES


def test_a_fleet_without_workers_is_an_error_of_input() -> None:
    fleet = NearFleet(0)
    with pytest.raises(InputError, match="no worker is left"):
        Jails(place=Workers(fleet)).check()
    assert Jails(place=Workers(fleet)).describe()["on"] == "near"


def test_a_lost_jail_fails_in_every_method(tmp_path: Path) -> None:
    with near(1) as (jails, fleet):
        jail = jails.open(tmp_path)
        process = jail.start(["sleep", "600"])
        fleet.links[0].die()
        assert process.stdout.read() == b""
        process.close()
        for method in (
            jail.check, jail.refresh, lambda: jail.read_file("x", limit=1), jail.close,
            lambda: jail.start(["true"]),
        ):  # fmt: skip
            with pytest.raises(JailError, match="is lost"):
                method()
        jail.kill()
        jail.close()
