"""Embedders: their laws, where their models come from, and the ways in which they fail."""

import hashlib
import json
import math
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.pool.embedding import (
    CachedEmbedder,
    Embedder,
    EndpointEmbedder,
    HashingEmbedder,
    MiniLmEmbedder,
    Vector,
    choose_embedder,
    endpoint,
    minilm,
)
from coterie.pool.embedding.protocol import unit
from coterie.runtime.doubles import ScriptedModel
from coterie.runtime.gateway import CallError, Endpoint
from coterie.runtime.local.packaged import PackagedFile, weights_dir
from coterie.schema import InputError, Model

from ..support.packages import packages_in
from .loopback import Answer, Loopback
from .tiny_onnx import table_lookup

TEXTS = ["", "How many apples are left?", "日本語のテキスト", "\x00 \u2028", "word " * 3000]


def cosine(first: Vector, second: Vector) -> float:
    return sum(a * b for a, b in zip(first, second, strict=True))


def is_here() -> bool:
    """Whether the default embedder can be used without a network."""
    cached = weights_dir().glob("all-minilm-l6-v2-int8-*")
    return MiniLmEmbedder.is_installed() and len(list(cached)) == 2


needs_minilm = pytest.mark.skipif(
    not is_here(), reason="the default embedder is not installed, or was not used here before"
)


def endpoint_of(base: str, key: str | None = None) -> Endpoint:
    return Endpoint(kind="openai", model="small", api_base=base, key=key)


@pytest.fixture(params=["hashing", pytest.param("minilm", marks=needs_minilm), "endpoint"])
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    if request.param != "endpoint":
        yield choose_embedder(request.param)
        return
    with ScriptedModel("unused") as model:
        yield EndpointEmbedder(endpoint_of(model.api_base))


class TestLaws:
    def test_a_text_becomes_a_unit_vector(self, embedder: Embedder) -> None:
        for vector in embedder.embed(TEXTS):
            assert len(vector) == embedder.dimension
            assert math.hypot(*vector) == pytest.approx(1, abs=1e-5)

    def test_a_vector_depends_on_its_text_alone(self, embedder: Embedder) -> None:
        together = embedder.embed([*TEXTS, *reversed(TEXTS)])
        assert together[: len(TEXTS)] == list(reversed(together[len(TEXTS) :]))
        assert together[: len(TEXTS)] == [embedder.embed([text])[0] for text in TEXTS]

    def test_no_texts_give_no_vectors(self, embedder: Embedder) -> None:
        assert embedder.embed([]) == []

    def test_shared_words_bring_texts_closer(self, embedder: Embedder) -> None:
        first, second, third = embedder.embed(
            ["sort the list of numbers", "sort the long list", "a letter from Paris"]
        )
        assert cosine(first, second) > cosine(first, third) + 0.2


@pytest.mark.parametrize("vector", [[0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0], []])
def test_a_vector_without_a_direction_is_none(vector: list[float]) -> None:
    with pytest.raises(ValueError, match="a vector of length"):
        unit(vector)


@given(st.text())
def test_hashing_takes_any_text(text: str) -> None:
    [vector] = HashingEmbedder().embed([text])
    assert math.hypot(*vector) == pytest.approx(1)


def test_hashing_gives_the_same_numbers_everywhere() -> None:
    [vector] = HashingEmbedder().embed(["Ann keeps seven apples."])
    digest = hashlib.sha256(json.dumps([round(value, 9) for value in vector]).encode())
    assert digest.hexdigest()[:16] == "318b8a825d753a55"


@needs_minilm
def test_the_default_knows_paraphrases() -> None:
    query, same, other = MiniLmEmbedder().embed(
        [
            "Is this film review positive or negative?",
            "Decide whether the critic liked the movie.",
            "Is this bank statement positive or negative?",
        ]
    )
    assert cosine(query, same) > cosine(query, other)


class Shop:
    """Two packages with a tiny model, and a package client that has nothing else."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.packages = packages_in(folder, monkeypatch)
        self.cache = folder / "cache"
        monkeypatch.setenv("MAS_MODEL_CACHE", str(self.cache))

    def publish(self, name: str, content: bytes) -> PackagedFile:
        package = self.packages / f"{name}==1.0"
        package.mkdir()
        (package / "file").write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        return PackagedFile(
            requirement=f"{name}==1.0", member="file", bytes=len(content), sha256=digest
        )


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    if not MiniLmEmbedder.is_installed():
        pytest.skip("needs the extra `embeddings`")
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = Tokenizer(models.WordLevel({"east": 0, "north": 1, "?": 2}, unk_token="?"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.enable_padding(length=9)
    shop = Shop(tmp_path, monkeypatch)
    table = shop.publish("tiny-model", table_lookup([[2, 0], [0, 2], [-1, 0]]))
    tokens = shop.publish("tiny-tokenizer", words.to_str().encode())
    monkeypatch.setattr(minilm, "MODEL", table)
    monkeypatch.setattr(minilm, "TOKENIZER", tokens)
    return shop


class TestMiniLm:
    def test_is_fetched_once_and_said(self, shop: Shop) -> None:
        texts: list[str] = []
        vectors = MiniLmEmbedder(report=texts.append).embed(["east", "north east", "up"])
        half = math.sqrt(0.5)
        assert vectors == [[1, 0], pytest.approx([half, half]), [-1, 0]]
        assert len(texts) == 2
        assert all("fetching all-minilm" in text for text in texts)
        assert len(list(shop.cache.glob("all-minilm*"))) == 2

        shutil.rmtree(shop.packages)
        assert MiniLmEmbedder(report=texts.append).embed(["north"]) == [[0, 1]]
        assert len(texts) == 2

    def test_sees_the_beginning_of_a_long_text(self, shop: Shop) -> None:
        embedder = MiniLmEmbedder(report=lambda _: None)
        [vector] = embedder.embed(["east " * 256 + "north " * 256])
        assert vector == [1, 0]

    def test_offline_says_how_to_go_on(self, shop: Shop) -> None:
        shutil.rmtree(shop.packages)
        with pytest.raises(InputError) as caught:
            MiniLmEmbedder(report=lambda _: None).embed(["east"])
        assert "no route to the package index" in str(caught.value)
        assert "'hashing'" in str(caught.value)
        assert not list(shop.cache.glob("all-minilm*"))

    def test_refuses_unpinned_files(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(minilm, "MODEL", replace(minilm.MODEL, sha256="0" * 64))
        with pytest.raises(InputError, match=r"tiny-model==1\.0 has the wrong sha256"):
            MiniLmEmbedder(report=lambda _: None).embed(["east"])

    def test_says_that_another_process_fetches(self, shop: Shop) -> None:
        texts: list[str] = []
        embedder = MiniLmEmbedder(report=texts.append)
        embedder._progress("a.onnx", "wait", 0, 0)
        embedder._progress("a.onnx", "wait", 0, 0)
        assert len(texts) == 1
        assert "waiting for another process" in texts[0]

    def test_names_the_missing_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(minilm, "NEEDED", ("no_such_package",))
        with pytest.raises(InputError, match=r"pip install .*\[embeddings\]"):
            MiniLmEmbedder().embed(["east"])

    def test_a_library_that_fails_is_bad_input(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for error in (RuntimeError("odd"), TypeError("odd"), BaseException("odd")):
            monkeypatch.setattr(MiniLmEmbedder, "_tokenizer", Mock(encode=Mock(side_effect=error)))
            with pytest.raises(InputError, match=r"the embedder all-minilm.* failed: .*odd"):
                MiniLmEmbedder().embed(["east"])


class Canned(Loopback):
    """Gives prepared answers, one after the other."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        super().__init__(lambda _: self.answers.pop(0))

    def embedder(self) -> EndpointEmbedder:
        return EndpointEmbedder(endpoint_of(f"{self.url}/v1"), timeout=300)


def vectors(*values: Sequence[Any]) -> dict[str, Any]:
    return {"data": [{"index": i, "embedding": value} for i, value in enumerate(values)]}


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "WAITS", (0.0, 0.0))


@pytest.mark.usefixtures("at_once")
class TestEndpoint:
    def test_sends_its_key_and_no_one_elses(self) -> None:
        with ScriptedModel("unused", key="right") as model:
            embedder = EndpointEmbedder(endpoint_of(model.api_base, "right"))
            assert len(embedder.embed(["one", "two"])) == 2
            with pytest.raises(CallError, match="HTTP 401") as caught:
                EndpointEmbedder(endpoint_of(model.api_base)).embed(["one"])
        assert caught.value.kind == "denied"
        assert "right" not in str(caught.value)

    def test_is_named_after_its_model_and_address(self) -> None:
        assert EndpointEmbedder(endpoint_of("http://h/v1")).name == "small@http://h/v1"

    def test_scales_vectors_and_goes_by_their_numbers(self) -> None:
        body = vectors([3, 4], [0, -2])
        body["data"].reverse()
        with Canned(Answer(body=body)) as server:
            assert server.embedder().embed(["a", ""]) == [[0.6, 0.8], [0, -1]]
        [request] = server.requests
        assert (request.method, request.path) == ("POST", "/v1/embeddings")
        assert request.body == {"model": "small", "input": ["a", " "]}

    def test_sends_the_beginning_of_a_long_text(self) -> None:
        with Canned(Answer(body=vectors([1]))) as server:
            server.embedder().embed(["x" * 10_000])
            assert server.requests[0].body["input"] == ["x" * 8_000]

    async def test_works_inside_an_event_loop(self) -> None:
        with Canned(Answer(body=vectors([1, 0]))) as server:
            assert server.embedder().embed(["a"]) == [[1, 0]]

    @pytest.mark.parametrize(
        ("body", "reason"),
        [
            (b"<html>", "has no vectors"),
            (b"[" * 100_000, "has no vectors"),
            ([], "has no vectors"),
            ({"data": None}, "has no vectors"),
            ({"data": [{"embedding": [1]}]}, "has no vectors"),
            (vectors("AACAPw=="), "has no vectors"),
            (vectors([0, 0]), "has no vectors"),
            (vectors([math.nan]), "has no vectors"),
            (vectors([10**400]), "has no vectors"),
            (vectors(), "0 vectors for 2 texts"),
            (vectors([1], [1], [1]), "3 vectors for 2 texts"),
            (vectors([1], [1, 2]), "vectors of different lengths"),
        ],
    )
    def test_refuses_what_are_no_vectors(self, body: Any, reason: str) -> None:
        with (
            Canned(*[Answer(body=body)] * 3) as server,
            pytest.raises(CallError, match=reason) as caught,
        ):
            server.embedder().embed(["a", "b"])
        assert caught.value.kind == "malformed"
        assert server.answers == []

    def test_tries_again_what_may_pass(self) -> None:
        busy = Answer(status=429, body={"error": "slow down"}, headers={"Retry-After": "0"})
        with Canned(busy, Answer(status=503), Answer(body=vectors([1]))) as server:
            assert server.embedder().embed(["a"]) == [[1]]

    @pytest.mark.parametrize(
        ("status", "kind"),
        [(400, "rejected"), (401, "denied"), (403, "denied"), (404, "unknown"), (307, "rejected")],
    )
    def test_does_not_try_again_what_cannot(self, status: int, kind: str) -> None:
        elsewhere = {"Location": "http://127.0.0.1:9/v1/embeddings"}
        with (
            Canned(Answer(status=status, body=b"\xff no", headers=elsewhere)) as server,
            pytest.raises(CallError, match=f"HTTP {status}: .* no") as caught,
        ):
            server.embedder().embed(["a"])
        assert caught.value.kind == kind
        assert len(server.requests) == 1

    def test_says_that_nobody_is_there(self) -> None:
        with Canned() as server:
            embedder = server.embedder()
        with pytest.raises(CallError, match="Is the endpoint running") as caught:
            embedder.embed(["a"])
        assert caught.value.kind == "down"

    def test_does_not_wait_for_ever(self) -> None:
        with ScriptedModel("unused") as model:
            embedder = EndpointEmbedder(endpoint_of(model.api_base), timeout=1e-6)
            with pytest.raises(CallError, match="no whole answer within 1e-06") as caught:
                embedder.embed(["a"])
        assert caught.value.kind == "timeout"

    def test_takes_no_endless_answer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(endpoint, "LARGEST_ANSWER", 1 << 20)
        with (
            Canned(*[Answer(body=b" " * (2 << 20))] * 3) as server,
            pytest.raises(CallError, match="more than 1 MiB"),
        ):
            server.embedder().embed(["a"])

    def test_is_asked_for_its_dimension_once(self) -> None:
        with Canned(Answer(body=vectors([1, 2, 3]))) as server:
            embedder = server.embedder()
            assert embedder.dimension == embedder.dimension == 3


class TestCache:
    def test_is_an_embedder_like_the_one_within(self, tmp_path: Path) -> None:
        within = HashingEmbedder()
        cached = CachedEmbedder(within, tmp_path / "cache" / "vectors.sqlite")
        assert (cached.name, cached.dimension) == (within.name, within.dimension)
        first = cached.embed([*TEXTS, *TEXTS])
        assert first == cached.embed([*TEXTS, *TEXTS])
        for vector, exact in zip(first, within.embed(TEXTS), strict=False):
            assert vector == pytest.approx(exact, abs=1e-7)

    def test_takes_half_a_character_for_a_question_mark(self, tmp_path: Path) -> None:
        cached = CachedEmbedder(HashingEmbedder(), tmp_path / "vectors.sqlite")
        assert cached.embed(["caf\ud800 noir"]) == cached.embed(["caf? noir"])

    def test_keeps_what_was_made_before_a_failure(self, tmp_path: Path) -> None:
        class Failing(HashingEmbedder):
            left = 2

            def embed(self, texts: Sequence[str]) -> list[Vector]:
                self.left -= 1
                if self.left < 0:
                    raise CallError("out", kind="down")
                return super().embed(texts)

        texts = [f"text {number}" for number in range(200)]
        failing = Failing()
        cached = CachedEmbedder(failing, tmp_path / "vectors.sqlite")
        with pytest.raises(CallError):
            cached.embed(texts)
        failing.left = 2
        assert len(cached.embed(texts)) == 200

    def test_makes_a_vector_anew_that_the_disk_lost(self, tmp_path: Path) -> None:
        path = tmp_path / "vectors.sqlite"
        whole = CachedEmbedder(HashingEmbedder(), path).embed(TEXTS)
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("UPDATE vectors SET vector = zeroblob(length(vector))")
        assert CachedEmbedder(HashingEmbedder(), path).embed(TEXTS) == whole

    def test_has_what_was_asked_for_lately_at_hand(self, tmp_path: Path) -> None:
        path = tmp_path / "vectors.sqlite"
        cached = CachedEmbedder(HashingEmbedder(), path)
        first = cached.embed(TEXTS)
        path.unlink()
        assert cached.embed(TEXTS[:1]) == first[:1]
        assert not path.exists()
        many = [f"text {number}" for number in range(300)]
        assert cached.embed(many) == [*cached.embed(many[:9]), *cached.embed(many[9:])]

    def test_makes_the_file_of_an_earlier_version_anew(self, tmp_path: Path) -> None:
        path = tmp_path / "vectors.sqlite"
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("CREATE TABLE vectors (embedder TEXT, text BLOB, vector BLOB)")
        cached = CachedEmbedder(HashingEmbedder(), path)
        assert cached.embed(TEXTS) == cached.embed(TEXTS)
        with closing(sqlite3.connect(path)) as database:
            [columns] = database.execute("SELECT count(*) FROM pragma_table_info('vectors')")
        assert columns == (4,)


class TestChoice:
    models: ClassVar = {
        "vectors": Model(alias="vectors", model="openai/embed-3", key_env="VECTOR_KEY"),
        "own": Model(alias="own", model="nomic", api_base="http://127.0.0.1:9/v1"),
        "embedded": Model(alias="embedded", model="local"),
        "claude": Model(alias="claude", model="anthropic/claude"),
    }

    def choose(self, name: str | None, **environment: str) -> Embedder:
        return choose_embedder(name, models=self.models, environment=environment)

    def test_goes_by_name(self) -> None:
        assert isinstance(self.choose("minilm"), MiniLmEmbedder)
        assert isinstance(self.choose("hashing"), HashingEmbedder)
        assert self.choose("own").name == "nomic@http://127.0.0.1:9/v1"
        name = "embed-3@https://api.openai.com/v1"
        assert self.choose("vectors", VECTOR_KEY="k").name == name

    def test_asks_for_the_key_before_anything_is_sent(self) -> None:
        with pytest.raises(InputError, match="VECTOR_KEY is not set"):
            self.choose("vectors")

    @pytest.mark.parametrize("alias", ["embedded", "claude"])
    def test_refuses_models_that_have_no_such_endpoint(self, alias: str) -> None:
        with pytest.raises(InputError, match="only OpenAI-compatible endpoints"):
            self.choose(alias, ANTHROPIC_API_KEY="k")

    def test_names_what_there_is(self) -> None:
        with pytest.raises(InputError, match="Known: minilm, hashing, claude, embedded, own"):
            self.choose("other")
        with pytest.raises(InputError, match=r"Known: minilm, hashing\."):
            choose_embedder("other")

    def test_falls_back_to_hashing_and_says_what_that_means(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        if MiniLmEmbedder.is_installed():
            assert isinstance(choose_embedder(), MiniLmEmbedder)
        monkeypatch.setattr(minilm, "NEEDED", ("no_such_package",))
        texts: list[str] = []
        assert isinstance(choose_embedder(report=texts.append), HashingEmbedder)
        assert "finds no paraphrases" in texts[0]
        choose_embedder()
        assert "finds no paraphrases" in caplog.text
