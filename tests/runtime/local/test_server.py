"""Calls to the real embedded model, and the life of its server."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit

import pytest
from jsonschema import validate

from coterie.runtime.local.grammar import schema_grammar
from coterie.runtime.local.server import LocalServer
from coterie.runtime.local.weights import pull
from coterie.schema.values.errors import InputError, ModelError

from ...waiting import wait_for

pytest.importorskip("xllamacpp", reason="needs the extra `local`")

CONTEXT = 1024
PARENT = """
import asyncio, sys
from pathlib import Path
from coterie.runtime.local.server import LocalServer

async def serve():
    server = LocalServer(Path(sys.argv[1]), slots=1, context=256)
    await server.start()
    print(server.api_base, flush=True)
    await asyncio.Event().wait()

asyncio.run(serve())
"""


@dataclass(frozen=True, kw_only=True)
class Served:
    api_base: str
    key: str
    pid: int

    def ask(
        self, text: str, *, system: str = "Answer.", key: str | None = None, **fields: Any
    ) -> dict[str, Any]:
        """Make a chat call."""
        messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
        body = {"messages": messages, "max_tokens": 6, **fields}
        request = urllib.request.Request(  # noqa: S310 - it is http
            f"{self.api_base}/chat/completions",
            json.dumps(body).encode(),
            {
                "Content-Type": "application/json",
                "Authorization": f"Bearer {self.key if key is None else key}",
            },
        )
        with urllib.request.urlopen(request, timeout=300) as response:  # noqa: S310
            return json.load(response)

    def texts(self, text: str, **fields: Any) -> list[str]:
        """Return the answers of a chat call."""
        answer = self.ask(text, **fields)
        return [choice["message"]["content"] for choice in answer["choices"]]


@pytest.fixture(scope="module")
def model() -> Path:
    """The embedded model's file, from the user's cache."""
    try:
        return pull()
    except InputError as error:
        pytest.skip(f"the embedded model is neither here nor to be had: {error}")


@pytest.fixture(scope="module")
def served(model: Path) -> Iterator[Served]:
    """One server for all calls."""
    with pytest.MonkeyPatch.context() as patch, asyncio.Runner() as runner:
        patch.setenv("OPENAI_API_KEY", "sk-not-for-the-child")
        server = LocalServer(model, slots=2, context=CONTEXT)
        runner.run(server.start())
        yield Served(api_base=server.api_base, key=server.key, pid=server.pid)
        runner.run(server.stop())


def is_reachable(api_base: str) -> bool:
    address = urlsplit(api_base)
    with socket.socket() as client:
        return client.connect_ex((address.hostname, address.port)) == 0


class TestCalls:
    def test_answers(self, served: Served) -> None:
        answer = served.ask("Say hello.", temperature=0)
        assert answer["choices"][0]["message"]["content"].strip()
        assert answer["usage"]["completion_tokens"] <= 6

    @pytest.mark.parametrize("key", ["", "wrong"])
    def test_refuses_who_has_not_the_key(self, served: Served, key: str) -> None:
        with pytest.raises(HTTPError) as caught:
            served.ask("Say hello.", key=key)
        with caught.value as response:
            assert response.status == 401

    def test_refuses_a_prompt_that_does_not_fit(self, served: Served) -> None:
        with pytest.raises(HTTPError) as caught:
            served.ask("word " * 2 * CONTEXT)
        with caught.value as response:
            assert response.status == 400
            assert json.load(response)["error"]["type"] == "exceed_context_size_error"

    def test_repeats_itself_with_the_same_seed_only(self, served: Served) -> None:
        first, again, other = (
            served.texts("Tell me about the sea.", temperature=1, seed=seed) for seed in (1, 1, 2)
        )
        assert first == again != other

    def test_gives_several_answers_to_one_question(self, served: Served) -> None:
        texts = served.texts("Tell me about the sea.", n=2, temperature=1, seed=1)
        assert len(set(texts)) == 2

    def test_reads_a_known_beginning_only_once(self, served: Served) -> None:
        beginning = "You are one of a team of careful readers. " * 8
        served.ask(f"{beginning} Greet me.", max_tokens=1)
        usage = served.ask(f"{beginning} Thank me.", max_tokens=1)["usage"]
        cached = usage["prompt_tokens_details"]["cached_tokens"]
        assert cached > 0.8 * usage["prompt_tokens"]

    def test_serves_more_callers_than_it_has_slots(self, served: Served) -> None:
        with ThreadPoolExecutor(4) as pool:
            answers = pool.map(lambda _: served.texts("Say hello.", temperature=0), range(4))
        assert len(set(map(tuple, answers))) == 1


def closed(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


class TestSchema:
    @pytest.mark.parametrize(
        "schema",
        [
            pytest.param(closed(label={"enum": ["positive", "negative", 3, None]}), id="enum"),
            pytest.param(
                closed(a=closed(b={"type": "integer", "minimum": 0, "maximum": 9}, c={"const": 1})),
                id="nested",
            ),
            pytest.param(
                closed(
                    words={
                        "type": "array",
                        "items": {"type": "string", "maxLength": 8},
                        "minItems": 1,
                        "maxItems": 3,
                    }
                ),
                id="array",
            ),
            pytest.param(
                closed(x={"anyOf": [{"type": "null"}, closed(k={"type": "boolean"})]}), id="any-of"
            ),
            pytest.param(closed(text={"type": "string", "maxLength": 30}), id="short-text"),
            pytest.param(
                {"$defs": {"day": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}$"}}}
                | closed(day={"$ref": "#/$defs/day"}),
                id="pattern-by-reference",
            ),
            pytest.param(
                closed(x={"type": "array", "items": {"enum": [1, 2]}, "maxItems": 2})
                | {"dependentRequired": {}, "x-of-mine": 1},
                id="unknown-keyword",
            ),
        ],
    )
    def test_holds_every_answer(
        self, served: Served, schema: dict[str, Any], nightly: bool
    ) -> None:
        for seed in range(3 if nightly else 1):
            (text,) = served.texts(
                "Invent something.",
                grammar=schema_grammar(schema),
                max_tokens=400,
                temperature=1,
                seed=seed,
            )
            validate(json.loads(text), schema)
            assert text == json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False)

    def test_lets_the_model_choose_well(self, served: Served) -> None:
        schema = closed(answer={"enum": ["positive", "negative"]})
        for text, right in (
            ("We loved every minute of it.", "positive"),
            ("The room was dirty and the staff was rude.", "negative"),
        ):
            (answer,) = served.texts(
                text,
                system="Is the review positive or negative?",
                grammar=schema_grammar(schema),
                temperature=0,
            )
            assert json.loads(answer) == {"answer": right}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
class TestSecrets:
    def test_the_servers_environment_has_no_keys_of_providers(self, served: Served) -> None:
        environment = Path(f"/proc/{served.pid}/environ").read_bytes()
        assert b"sk-not-for-the-child" not in environment

    def test_its_command_line_does_not_show_its_key(self, served: Served) -> None:
        assert served.key.encode() not in Path(f"/proc/{served.pid}/cmdline").read_bytes()


class TestEnd:
    async def test_is_gone_when_stopped(self, model: Path) -> None:
        async with LocalServer(model, slots=1, context=256) as server:
            address = server.api_base
            assert is_reachable(address)
        assert not is_reachable(address)

    def test_is_gone_when_its_parent_is_killed(self, model: Path) -> None:
        with subprocess.Popen(
            [sys.executable, "-c", PARENT, str(model)], stdout=subprocess.PIPE, text=True
        ) as parent:
            assert parent.stdout is not None
            address = urlsplit(parent.stdout.readline().strip())
            with socket.create_connection(
                (address.hostname, address.port), timeout=300
            ) as open_one:
                parent.send_signal(signal.SIGKILL)
                assert open_one.recv(1) == b""  # the server's end closed
        # The system closes the sockets of a dead process one after the other.
        wait_for(lambda: not is_reachable(address.geturl()), "it can still be reached")

    async def test_stop_ends_a_start_that_is_given_up(self, model: Path) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await LocalServer(model).start()


class TestBadStart:
    def test_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"gone\.gguf' cannot be read: No such file"):
            LocalServer(tmp_path / "gone.gguf")

    def test_a_file_of_another_kind(self, tmp_path: Path) -> None:
        path = tmp_path / "model.safetensors"
        path.write_bytes(b"{}")
        with pytest.raises(InputError, match=r"is not a GGUF model: it starts with b'{}'"):
            LocalServer(path)

    def test_a_damaged_file_with_the_servers_own_words(self, model: Path, tmp_path: Path) -> None:
        path = tmp_path / "half.gguf"
        with model.open("rb") as stream:
            path.write_bytes(stream.read(2_000_000))
        with pytest.raises(InputError, match=r"llama\.cpp cannot load it(.|\n)*incomplete"):
            asyncio.run(LocalServer(path).start())

    def test_too_slow(self, model: Path) -> None:
        with pytest.raises(ModelError, match=r"not ready after 0\.05 s"):
            asyncio.run(LocalServer(model, start_timeout=0.05).start())

    def test_a_crash(self, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "xllamacpp.py").write_text("import os; os.write(2, b'out of luck'); os.abort()")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        with pytest.raises(ModelError, match=rf"code -{signal.SIGABRT:d}(.|\n)*out of luck"):
            asyncio.run(LocalServer(model).start())

    def test_without_the_extra(self, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "xllamacpp", None)
        with pytest.raises(InputError, match=r"pip install .*\[local\]"):
            LocalServer(model)

    def test_an_address_before_the_start(self, model: Path) -> None:
        with pytest.raises(RuntimeError, match="not running"):
            _ = LocalServer(model).api_base
