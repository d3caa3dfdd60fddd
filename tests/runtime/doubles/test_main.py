"""The server as people start it by hand."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from coterie.runtime.doubles import ScriptedModel
from coterie.runtime.doubles.__main__ import main


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.yaml"
    path.write_text("the judge: {json: {answer: B}}\n", encoding="utf-8")
    return path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["doubles", *map(str, arguments)])
    return main()


def test_it_prints_its_address_and_serves_until_it_is_interrupted(script: Path) -> None:
    command = [sys.executable, "-m", "coterie.runtime.doubles", str(script), "--key", "k"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            request = Request(  # noqa: S310 - a loopback address
                f"{server.stdout.readline().strip()}/chat/completions",
                data=json.dumps({"messages": [{"content": "You are the judge"}]}).encode(),
                headers={"Authorization": "Bearer k"},
            )
            with urlopen(request, timeout=300) as response:  # noqa: S310
                document = json.load(response)
        finally:
            server.send_signal(signal.SIGINT)

    assert document["choices"][0]["message"]["content"] == '{"answer": "B"}'
    assert server.returncode == 0


def test_a_script_that_does_not_load_is_bad_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("- 42\n", encoding="utf-8")

    assert run(monkeypatch, script) == 2
    assert (
        capsys.readouterr().err
        == f"{script}:1:3: error: [0]: 42 is not text or a mapping. Write one of them.\n"
    )


def test_a_port_that_is_taken_is_bad_input(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedModel("42") as model:
        port = model.api_base.rsplit(":", 1)[1].removesuffix("/v1")
        assert run(monkeypatch, script, "--port", port) == 2

    assert capsys.readouterr().err.startswith(f"port {port} cannot be used: Address already in use")
