"""A host with secrets of many kinds, the commands that run there, and all that they leave."""

from __future__ import annotations

import base64
import json
import os
import random
import string
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, quote_plus

from coterie.runtime.command.run import main as mas_run
from coterie.runtime.doubles import ScriptedModel

from ..leaks import cuttings, leaks, written
from ..support.processes import Child

SERVER = Path(__file__).parent / "programs" / "leaky_server.py"
ALPHABET = string.ascii_letters + string.digits
DEPTH = 2


@dataclass(frozen=True, kw_only=True)
class Secrets:
    """What the host knows and nobody else may.

    Attributes:
        key: Of the provider; the variable's name does not say that it is secret.
        token: Of something that no run uses; only the variable's name says that it is secret.
        password: In the address of a database.
        pin: Given to a tool server.
        dotenv: In .env files that nobody reads.
    """

    key: str
    token: str
    password: str
    pin: str
    dotenv: str

    @classmethod
    def drawn(cls, seed: int) -> Secrets:
        chance = random.Random(seed)

        def plain(size: int) -> str:
            return "".join(chance.choices(ALPHABET, k=size))

        odd = "".join(chance.choices(ALPHABET + "/+=\"'\\%&é <", k=20))
        return cls(
            key=f"k-{plain(38)}",
            token=f"{plain(9)}{odd}{plain(9)}",
            password=f"{plain(8)}-{plain(8)}",
            pin=f"{plain(8)}/{plain(4)}+{plain(8)}",
            dotenv=plain(30),
        )

    def all(self) -> tuple[str, ...]:
        return (self.key, self.token, self.password, self.pin, self.dotenv)


def forms(secret: str) -> list[str]:
    """Ways in which a model may write a secret."""
    encoded = secret.encode()
    return [
        secret,
        json.dumps(secret),
        json.dumps(json.dumps({"key": secret})),
        quote(secret, safe=""),
        quote_plus(secret).replace("%2F", "%2f"),
        repr(secret),
        base64.b64encode(encoded).decode(),
        base64.urlsafe_b64encode(b"u" + encoded).decode(),
        f"Basic {base64.b64encode(b'us' + encoded).decode()}",
        base64.encodebytes(b"-" * 47 + encoded).decode(),
        encoded.hex(),
        encoded.hex().upper(),
    ]


@dataclass(kw_only=True)
class Done:
    """What a command left.

    Attributes:
        text: What it printed, on both streams in order.
        files: What it wrote or changed, by path.
    """

    code: int
    text: bytes
    files: list[tuple[Path, bytes]]

    @property
    def marks(self) -> int:
        """How often something was taken out."""
        return sum(content.count(b"[secret]") for _, content in [*self.files, (Path(), self.text)])


@dataclass(kw_only=True)
class Host:
    """A machine with secrets: a home, a folder for temporary files, and a folder to work in."""

    folder: Path
    secrets: Secrets
    environment: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        for name in ("home", "temporary", "project/work"):
            (self.folder / name).mkdir(parents=True)
        known = self.secrets
        for place in (self.folder / "project", self.work, self.folder / "home"):
            (place / ".env").write_text(f"FROM_DOTENV={known.dotenv}\nOPENAI_API_KEY=x\n")
        self.environment = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "temporary"),
            "MAS_HOME": str(self.work),
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "MY_MODEL": known.key,
            "BILLING_TOKEN": known.token,
            "DATABASE": f"postgres://bob:{known.password}@db.example.com/x",
            "LEAKY_PIN": known.pin,
        }

    @property
    def work(self) -> Path:
        return self.folder / "project" / "work"

    def put(self, name: str, content: Any) -> None:
        """Write a file that the person who works here has."""
        text = content if isinstance(content, str) else json.dumps(content)
        (self.work / name).write_text(text, encoding="utf-8")

    def offers(self, model: ScriptedModel, *aliases: str, broken: bool = False) -> None:
        """Say where the models are and which tools there are."""
        fields = {"api_base": model.api_base, "key_env": "MY_MODEL"}
        models = {alias: {"model": f"m-{alias}", **fields} for alias in ("default", *aliases)}
        self.put("models.yaml", {"models": models})
        command = [sys.executable, "-I", "-S", str(SERVER), *(["--broken"] if broken else [])]
        tools = ["tell", "fail", "keep", "recite"]
        leaky = {"command": command, "tools": tools, "env": ["LEAKY_PIN"], "timeout": 30}
        self.put("tools.yaml", {"servers": {"leaky": leaky}})

    def run(self, *command: str) -> Done:
        """Run a command in a Python of its own, whose environment others may look for."""
        return self._done(
            lambda output: (
                subprocess.run(
                    [sys.executable, *command],
                    cwd=self.work,
                    env=self.environment,
                    stdout=output,
                    stderr=output,
                    timeout=240,
                    check=False,
                ).returncode
            )
        )

    def mas_run(self, *words: str) -> Done:
        """Run `mas-run` in a child of this process."""

        def work(output: IO[bytes]) -> None:
            os.chdir(self.work)
            os.environ.clear()
            os.environ.update(self.environment)
            tempfile.tempdir = None  # that of the environment, not of the parent
            for stream in (1, 2):
                os.dup2(output.fileno(), stream)
            sys.stdout, sys.stderr = (open(stream, "w", 1) for stream in (1, 2))  # noqa: PTH123, SIM115
            mas_run(words, prog_name="mas-run")

        return self._done(lambda output: Child(partial(work, output)).wait())

    def _done(self, work: Callable[[IO[bytes]], int]) -> Done:
        """Have a command do its work, and look at all that it left."""
        before = dict(written(self.folder))
        with tempfile.TemporaryFile() as output:
            code = work(output)
            output.seek(0)
            data = output.read()
        files = [file for file in written(self.folder) if before.get(file[0]) != file[1]]
        return Done(code=code, text=data, files=files)

    def found(self, done: Done) -> list[str]:
        """Return where secrets are that ought not to be there."""
        places = [("printed", done.text), *((str(path), text) for path, text in done.files)]
        names = {value: name for name, value in vars(self.secrets).items()}
        return [
            f"{place}: {names.get(secret, secret)}: {steps}"
            for place, content in places
            for secret, steps in sorted(
                leaks(content, *self.secrets.all(), depth=DEPTH)
                | {(part, "a part") for part in cuttings(content, *self.secrets.all())}
            )
        ]
