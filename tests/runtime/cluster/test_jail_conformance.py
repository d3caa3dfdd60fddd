"""What `AnyJail` and `AnyProcess` promise, of jails here and of jails on a worker."""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.jail import (
    JailKilled,
    JailLimits,
    JailRequest,
    Jails,
    PythonWorker,
    Shell,
)
from coterie.runtime.jail.detect import detect
from coterie.runtime.jail.layout import interpreter
from coterie.schema.values.errors import JailError

from ...jails import stopped
from .links import near


@pytest.fixture(scope="module", params=["here", "on a worker"])
def jails(request: pytest.FixtureRequest) -> Iterator[Jails]:
    if detect().tier is None:
        pytest.skip(str(detect()))
    if request.param == "here":
        yield Jails()
        return
    with near(1) as (result, _):
        yield result


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_command_finds_the_folder_there_and_changes_it(jails: Jails, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "program").write_text("#!/bin/sh\necho run\n", "ascii")
    (tmp_path / "sub" / "program").chmod(0o755)
    (tmp_path / "old").write_text("old\n", "ascii")
    os.utime(tmp_path / "old", (1_000_000_000, 1_000_000_000))
    with jails.open(tmp_path) as jail:
        shell = Shell(jail)
        assert shell.run("pwd").output == f"{tmp_path}\n"
        assert shell.run("stat -c %Y old").output == "1000000000\n"
        done = shell.run(
            f"cd {tmp_path} && ./sub/program && cat old && rm old && mkdir -p a/b"
            " && echo new > a/b/c && ln -s /etc/passwd link && ln a/b/c again"
            " && chmod -x sub/program && mkfifo pipe",
        )
        assert (done.output, done.returncode) == ("run\nold\n", 0)
    assert set(names(tmp_path)) >= {"a", "a/b", "a/b/c", "again", "link", "sub", "sub/program"}
    assert not (tmp_path / "old").exists()
    assert (tmp_path / "a" / "b" / "c").read_text("ascii") == "new\n"
    assert (tmp_path / "again").stat().st_ino == (tmp_path / "a" / "b" / "c").stat().st_ino
    assert (tmp_path / "link").readlink() == Path("/etc/passwd")
    assert not os.access(tmp_path / "sub" / "program", os.X_OK) or os.geteuid() == 0
    assert (tmp_path / "sub" / "program").stat().st_mode & 0o111 == 0
    assert {path.lstat().st_uid for path in tmp_path.rglob("*")} == {os.geteuid()}


def test_what_a_command_comes_to(jails: Jails, tmp_path: Path) -> None:
    with jails.open(tmp_path, JailRequest(limits=JailLimits(output=4000))) as jail:
        shell = Shell(jail)
        assert shell.run("echo out; echo err >&2; exit 3").output == "out\nerr\n"
        assert shell.run("exit 3").returncode == 3
        assert shell.run("kill -9 $$").returncode == 128 + 9
        assert stopped(shell, "echo begun; sleep 600").output == "begun\n"
        assert "bytes left out" in stopped(shell, "yes").output
        assert shell.run("echo y; sleep 600 & echo z").output == "y\nz\n"


def test_an_interpreter_stays_warm_and_calls_tools(jails: Jails, tmp_path: Path) -> None:
    def tool(name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return [name, args, kwargs]

    with (
        jails.open(tmp_path, JailRequest(limits=JailLimits(output=3000))) as jail,
        closing(PythonWorker(jail, on_tool=tool, tools=["tool"])) as worker,
    ):
        assert worker.execute("x = 40").error is None
        done = worker.execute("print('p' * 100000); print('last')\ntool(1, b=x + 2)")
        assert done.output == ["tool", [1], {"b": 42}]
        assert done.logs.startswith("ppp")
        assert "output cut" in done.logs
        assert worker.execute("print('told')\n7").logs == "told\n"
        endless = worker.execute("while True: pass", timeout=0.3)
        assert "it ran longer than 0.3 seconds" in str(endless.error)
        assert worker.execute("import os; os._exit(3)").error == (
            "The code ended its interpreter, with exit code 3. What earlier cells defined is lost."
        )
        assert worker.execute("1 + 1").output == 2


def test_streams_are_whole_and_in_order(jails: Jails, tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "data = sys.stdin.buffer.readline()\n"
        "for n in range(300):\n"
        "    sys.stderr.buffer.write(b'e' * 5000); sys.stdout.buffer.write(data[:5000])\n"
        "sys.stderr.flush(); sys.stdout.flush(); sys.exit(7)\n"
    )
    with jails.open(tmp_path) as jail:
        process = jail.start(
            [str(interpreter()), "-I", "-c", program],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdin is not None
        assert process.stderr is not None
        fields: dict[str, bytes] = {}
        readers = [
            threading.Thread(target=lambda n=n, s=s: fields.__setitem__(n, s.read()))
            for n, s in (("out", process.stdout), ("err", process.stderr))
        ]
        for reader in readers:
            reader.start()
        process.stdin.write(b"o" * 400_000 + b"\n")
        process.stdin.flush()
        for reader in readers:
            reader.join(300)
        assert process.wait(300) == 7
        assert not process.running
        assert process.stopped is None
        process.close()
        process.close()
    assert fields == {"out": b"o" * 1_500_000, "err": b"e" * 1_500_000}


def test_a_process_is_ended_for_good(jails: Jails, tmp_path: Path) -> None:
    with jails.open(tmp_path) as jail:
        process = jail.start(["sh", "-c", "echo begun; sleep 600 & sleep 600"])
        assert process.stdout.read(6) == b"begun\n"
        assert process.wait(0.05) is None
        assert process.running
        process.kill("enough")
        process.kill("more")
        assert process.stopped == "enough"
        assert process.wait(300) == 128 + 9
        assert process.stdout.read() == b""
        process.close()


def test_whoever_waits_hears_that_the_jail_is_killed(jails: Jails, tmp_path: Path) -> None:
    with jails.open(tmp_path) as jail:
        timer = threading.Timer(0.3, jail.kill, ["the run was cancelled"])
        timer.start()
        with pytest.raises(JailKilled, match="the run was cancelled"):
            Shell(jail).run("sleep 600")
        with pytest.raises(JailKilled):
            jail.start(["true"])
        timer.join()
    with pytest.raises(JailKilled):
        jail.check()


def test_a_limit_of_the_jail_ends_what_runs(jails: Jails, tmp_path: Path) -> None:
    with jails.open(tmp_path, JailRequest(limits=JailLimits(disk=1 << 20))) as jail:
        done = Shell(jail).run("head -c 3000000 /dev/zero > big; sleep 600", timeout=60)
        assert done.stopped == f"its files grew by more than {1 << 20} bytes"
        assert not done.timed_out
        # As long as the file is there, whatever begins to run may be ended, too.
        while Shell(jail).run("rm -f big").stopped:
            pass


def test_the_folder_can_be_looked_at_while_code_is_at_work(jails: Jails, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept", "ascii")
    with jails.open(tmp_path) as jail, closing(PythonWorker(jail)) as worker:
        for text in ("one", "two"):
            worker.execute(
                f"import os\nfile = open('file', 'w')\nfile.write({text!r})\nfile.flush()"
            )
            jail.refresh()
            assert (tmp_path / "file").read_text("ascii") == text
            assert jail.read_file("file", limit=3) == text.encode()
        worker.execute("os.remove('kept'); os.symlink('/etc/passwd', 'link'); os.mkdir('x')")
        jail.refresh()
        assert set(names(tmp_path)) == {"file", "link", "x"}
        for name, message in (("link", "links"), ("../x", "not the path"), ("none", "can't be")):
            with pytest.raises(JailError, match=message):
                jail.read_file(name, limit=10)
        with pytest.raises(JailError, match="more than the 2 allowed"):
            jail.read_file("file", limit=2)


def test_given_folders_are_there_and_cannot_be_changed(jails: Jails, tmp_path: Path) -> None:
    work, given = tmp_path / "work", tmp_path / "given"
    (given / "in").mkdir(parents=True)
    work.mkdir()
    (given / "in" / "file").write_text("given\n", "ascii")
    request = JailRequest(
        host_folders=(given,),
        alias=Path("/repo"),
        own=(Path("/state"),),
        environment={"WORD": "said"},
    )
    with jails.open(work, request) as jail:
        done = Shell(jail).run(
            f"cat {given}/in/file; echo $WORD; (echo x > {given}/mine) 2>/dev/null"
            " || echo kept out; cd /repo && echo y > made; echo z > /state/file && ls /state"
        )
        assert done.output == "given\nsaid\nkept out\nfile\n"
    assert names(tmp_path) == ["given", "given/in", "given/in/file", "work", "work/made"]


def test_what_need_not_come_back_may_stay(jails: Jails, tmp_path: Path) -> None:
    with jails.open(tmp_path, JailRequest(returns=False)) as jail:
        assert Shell(jail).run("echo x > file; cat file").output == "x\n"


def test_what_cannot_be_opened_or_started(jails: Jails, tmp_path: Path) -> None:
    with pytest.raises(JailError, match="is not a folder"):
        jails.open(tmp_path / "none")
    with jails.open(tmp_path) as jail:
        assert Shell(jail).run("no-such-program-at-all").returncode == 127
        assert Shell(jail).run("x" * 200_000).returncode == 126
