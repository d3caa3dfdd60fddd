"""The interpreter in a jail, against code that does not want it well."""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.jail import Jail, JailKilled, JailLimits, JailRequest, Jails, PythonWorker
from coterie.schema import JailError

from ....waiting import time_that_passes

LOST = "What earlier cells defined is lost."


def nested(levels: int) -> Any:
    """A number in as many lists."""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.fixture
def called() -> list[tuple[str, list[Any], dict[str, Any]]]:
    return []


@pytest.fixture
def freed() -> Iterator[threading.Event]:
    """What the tool `stuck` waits for; set at the latest when the test is over."""
    freed = threading.Event()
    yield freed
    freed.set()


@pytest.fixture
def helped(
    jail: Jail, called: list[Any], freed: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> Iterator[PythonWorker]:
    """An interpreter with the tools `note`, `slow` and `stuck`; `slow` lets an hour pass."""
    let_pass = time_that_passes(monkeypatch)

    def on_tool(name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        called.append((name, args, kwargs))
        if name == "slow":
            let_pass(3600)
        if name == "stuck":
            freed.wait()
        return kwargs.get("give", name)

    with contextlib.closing(
        PythonWorker(jail, on_tool=on_tool, tools=["note", "slow", "stuck"])
    ) as result:
        yield result


def test_cells_share_their_state_and_a_final_answer_ends_one(worker: PythonWorker) -> None:
    assert worker.execute("x = 20\nprint('set')").logs == "set\n"
    done = worker.execute("final_answer({'a': [x + 22]})\nprint('never')")
    assert (done.is_final_answer, done.output, done.logs) == (True, {"a": [42]}, "")


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("None", None),
        ("(1, [2.5, 'x', {'a': True}])", [1, [2.5, "x", {"a": True}]]),
        ("{1: 2}", "{1: 2}"),
        ("float('nan')", "nan"),
        ("{'a': float('inf')}", "{'a': inf}"),
        ("set()", "set()"),
        ("x = 7", 7),
        ("x = 7\nfor _ in []: pass", None),
        ("'\\ud800'", "?"),
        ("10 ** 5000", "<a int without text: ValueError>"),
        ("class A:\n  def __repr__(self): raise SystemExit\nA()", "<a A without text: SystemExit>"),
        ("a = []\nfor _ in range(10**5): a = [a]\na", "<a list without text: RecursionError>"),
        ("a = 1\nfor _ in range(60): a = [a]\na", nested(60)),
        ("a = 1\nfor _ in range(61): a = [a]\na", repr(nested(61))),
    ],
)
def test_the_last_value_is_json_or_text(worker: PythonWorker, code: str, value: object) -> None:
    done = worker.execute(code)
    assert (done.output, done.error) == (value, None)


def test_what_programs_print_stands_where_they_printed_it(worker: PythonWorker) -> None:
    done = worker.execute(
        "import os, sys\nprint(1)\nos.system('echo 2')\nprint(3, file=sys.stderr)"
    )
    assert done.logs == "1\n2\n3\n"


def test_a_traceback_shows_the_cell_and_not_the_interpreter(worker: PythonWorker) -> None:
    error = worker.execute("def f(x):\n    return 1 / x\n\nf(0)").error or ""
    assert "return 1 / x" in error
    assert "_worker.py" not in error
    assert (
        worker.execute("1 +").error
        == 'File "<cell 2>", line 1\n    1 +\n       ^\nSyntaxError: invalid syntax'
    )


def test_a_long_error_loses_its_middle(worker: PythonWorker) -> None:
    error = worker.execute("raise ValueError('x' * 10**6 + 'end')").error or ""
    assert "characters left out" in error
    assert error.endswith("xend")
    assert len(error) < 33_000


def test_a_new_interpreter_has_tools_and_variables(helped: PythonWorker, called: list[Any]) -> None:
    helped.send_variables({"given": [1]})
    helped.execute("own = 1")
    error = helped.execute("import os; os._exit(3)").error or ""
    assert "exit code 3" in error
    assert error.endswith(LOST)
    assert helped.execute("note(given)").output == "note"
    assert called == [("note", [[1]], {})]
    assert "NameError" in (helped.execute("own").error or "")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("exit()", "NameError"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("import os; os._exit(3)", "ended its interpreter, with exit code 3"),
        ("import os; os.abort()", "ended its interpreter, with signal SIGABRT"),
        ("import os; os.kill(os.getpid(), 15)", "ended its interpreter, with signal SIGTERM"),
        ("import os; os.kill(os.getpid(), 9)", "ended its interpreter, with signal SIGKILL"),
        ("f = lambda: f()\nf()", "RecursionError"),
        (
            "import sys; sys.setrecursionlimit(10**9)\nf = lambda x: max([x], key=f)\nf(1)",
            "ended its interpreter, with signal SIGSEGV",
        ),
        ("(lambda n: n << (1 << 40))(1)", "Error"),
        ("int('9' * 10**6)", "ValueError"),
        ("'x' * 10**12", "MemoryError"),
        ("eval('(' * 10**5)", "SyntaxError"),
        ("eval('-' * 10**5 + '1')", "Error"),
        ("import builtins; vars(builtins).clear()", ""),
        ("import json; json.dumps = None", ""),
        ("import sys; sys.modules.clear(); raise ValueError", ""),
        ("import sys; sys.settrace(lambda *_: 1 / 0); print()", ""),
        ("import threading; threading.excepthook = None; raise MemoryError", "MemoryError"),
        ("class E(BaseException):\n  def __str__(self): raise self\nraise E", "str() failed"),
    ],
)
def test_harm_to_an_interpreter_is_an_error(worker: PythonWorker, code: str, message: str) -> None:
    error = worker.execute(code).error
    if message:
        assert error is not None
        assert message in error
    worker.execute("1")  # which has to bear what is left
    assert worker.execute("'still here'").output == "still here"


def test_what_a_cell_leaves_running_does_not_hold_up_the_next_or_the_end(jail: Jail) -> None:
    code = """
import atexit, threading, time
atexit.register(time.sleep, 600)
threading.Thread(target=time.sleep, args=(600,)).start()
"""
    with contextlib.closing(PythonWorker(jail)) as worker:
        assert worker.execute(code).error is None
        assert worker.execute("'next'").output == "next"


def test_the_time_of_tools_is_the_cells(helped: PythonWorker, called: list[Any]) -> None:
    error = helped.execute("kept = 1\nwhile True: slow()", timeout=600).error or ""
    assert "slow was not called: the 600 seconds of this step are over, tools included." in error
    assert len(called) == 1
    assert helped.execute("kept").output == 1


def test_a_tool_that_outlives_the_time_of_its_cell_is_not_lost(helped: PythonWorker) -> None:
    assert helped.execute("slow()", timeout=600).output == "slow"


def test_an_endless_cell_is_stopped(helped: PythonWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coterie.runtime.jail.code.worker._LAST_SECONDS", 0.3)
    code = """
while True:
    try:
        slow()
    except RuntimeError:
        pass
"""
    error = helped.execute(code, timeout=600).error or ""
    assert "it ran longer than 600 seconds" in error


def test_a_cell_has_the_time_that_tools_waited_for_people(jail: Jail, called: list[Any]) -> None:
    """Shown by a wait of less than nothing, which leaves no time: no test waits that long."""

    def output_of(a_wait: float) -> object:
        def on_tool(*_: Any) -> None:
            called.append(a_wait)

        worker = PythonWorker(jail, on_tool=on_tool, tools=["ask"], waited=lambda: sum(called))
        with contextlib.closing(worker):
            done = worker.execute("ask()\nask()\n'both'", timeout=600)
            return done.output or done.error

    assert output_of(1000.0) == "both"
    assert "the 600 seconds of this step are over" in str(output_of(-1000.0))


def test_a_cell_calls_tools_a_limited_number_of_times(jail: Jail, called: list[Any]) -> None:
    helped = PythonWorker(jail, on_tool=lambda *call: called.append(call), tools=["note"], calls=20)
    with contextlib.closing(helped):
        error = helped.execute("while True: note()", timeout=600).error or ""
        assert error.endswith("note was not called: one step may call tools 20 times.")
        assert len(called) == 20
        assert helped.execute("note()\n'called'").output == "called"


def test_code_that_never_reads_answers_of_tools_is_stopped(helped: PythonWorker) -> None:
    code = """
import os, threading
line = b'{"op": "call", "name": "note", "args": [], "kwargs": {"give": "%s"}}\\n' % (b"x" * 90_000)
for handle in range(3, 20):
    try:
        while rest := line:
            while rest: rest = rest[os.write(handle, rest):]  # a write may take a part alone
    except OSError:
        pass
"""
    error = helped.execute(code, timeout=600).error or ""
    # Which of the two comes first depends on how soon its calls are read.
    early = "it called a tool before it read the last one's answer"
    assert early in error or "it sent messages of more than" in error


def test_a_kill_does_not_wait_for_a_tool(helped: PythonWorker) -> None:
    helped.execute("1")
    threading.Timer(0.1, helped.kill, ["enough"]).start()
    with pytest.raises(JailKilled, match="enough"):
        helped.execute("stuck()")
    with pytest.raises(JailKilled):
        helped.execute("1")


def test_only_bounded_json_crosses_to_tools(helped: PythonWorker, called: list[Any]) -> None:
    assert "takes only what JSON can hold" in (helped.execute("note({1})").error or "")
    assert "takes only what JSON can hold" in (helped.execute("note('x' * (5 << 20))").error or "")
    deep = "a = 1\nfor _ in range(70): a = [a]\nnote(a)"
    assert "takes only what JSON can hold" in (helped.execute(deep).error or "")
    assert called == []
    helped._on_tool = lambda *_: object()
    assert "can't be handed over" in (helped.execute("note()").error or "")
    helped._on_tool = lambda *_: nested(2000)
    assert "can't be handed over" in (helped.execute("note()").error or "")
    helped._on_tool = lambda *_: "x" * (5 << 20)
    assert "can't be handed over" in (helped.execute("note()").error or "")
    assert helped.execute("'fine'").output == "fine"


def test_errors_of_tools_reach_the_cell(helped: PythonWorker) -> None:
    def failing(*_: Any) -> None:
        raise LookupError("no such thing")

    helped._on_tool = failing
    done = helped.execute("try: note()\nexcept RuntimeError as error: print(error)")
    assert done.logs == "note failed: LookupError: no such thing\n"
    assert "NameError" in (helped.execute("other()").error or "")


def test_a_kill_of_the_jail_ends_a_cell(jail: Jail, worker: PythonWorker) -> None:
    worker.execute("1")
    threading.Timer(0.2, jail.kill, ["enough"]).start()
    with pytest.raises(JailKilled, match="enough"):
        worker.execute("import time; time.sleep(600)", timeout=600)


def test_a_tool_that_is_hidden_by_a_variable_comes_back(helped: PythonWorker) -> None:
    assert "not callable" in (helped.execute("note = 1\nnote()").error or "")
    assert helped.execute("del note\nnote()").output == "note"


def test_threads_and_forks_do_not_mix_answers(helped: PythonWorker, called: list[Any]) -> None:
    code = """
import os, threading
got = []
def ask(n): got.append(note(give=n))
threads = [threading.Thread(target=ask, args=(n,)) for n in range(20)]
for thread in threads: thread.start()
for thread in threads: thread.join()
if (child := os.fork()) == 0:
    note(give='from a child')
os.waitpid(child, 0)
sorted(got)
"""
    assert helped.execute(code).output == list(range(20))
    assert len(called) == 20
    assert helped.execute("note()").output == "note"


@pytest.mark.parametrize(
    "message",
    [
        b"not json",
        b"[1, 2]",
        b"[" * 100_000,
        b'{"op": "unheard of"}',
        b'{"op": "call", "name": 1, "args": [], "kwargs": {}}',
        b'{"op": "done", "value": NaN}',
        b'{"op": "done", "value": 1e999}',
        b'{"op": "done", "value": ' + b"[" * 70 + b"]" * 70 + b"}",
        b'{"op": "call", "name": "note", "args": [1',
        b'{"op": "done", "value": "\\ud800"}',
        b"x" * (5 << 20),
    ],
    ids=lambda message: message[:20].decode(),
)
def test_a_forged_message_ends_its_interpreter_only(worker: PythonWorker, message: bytes) -> None:
    code = f"""
import os
for handle in range(3, 20):
    try:
        os.write(handle, {message!r} + b'\\n')
    except OSError:
        pass
"""
    if len(message) > 1000:
        code = code.replace(repr(message), f"{message[:1]!r} * {len(message)}")
    assert (worker.execute(code).error or "").endswith(LOST)
    assert worker.execute("'next'").output == "next"


def test_a_cell_that_answers_for_its_interpreter_deceives_only_itself(worker: PythonWorker) -> None:
    code = """
import os
for handle in range(3, 20):
    try:
        os.write(handle, b'{"op": "done", "value": "forged"}\\n{"op": "do')
    except OSError:
        pass
"""
    assert worker.execute(code).output == "forged"
    assert (worker.execute("1").error or "").endswith(LOST)
    assert worker.execute("'next'").output == "next"


def test_a_cell_that_closes_its_descriptors_does_not_hang(worker: PythonWorker) -> None:
    assert worker.execute("import os; os.close(1); os.close(2)").error is None
    assert worker.execute("print('again')").logs == "again\n"
    assert (worker.execute("import os; os.closerange(0, 100)").error or "").endswith(LOST)
    assert worker.execute("1 + 1").output == 2


def test_a_flood_that_never_ends_is_cut_and_stopped_in_time(worker: PythonWorker) -> None:
    for seconds in (0.3, 8, 120):  # as many as this machine takes to write so much
        done = worker.execute("import os\nwhile True: os.write(1, b'x' * 65536)", timeout=seconds)
        assert f"longer than {seconds:g} seconds" in (done.error or "")
        if len(done.logs) > 32768:
            break
    assert done.logs.endswith("[output cut after 32768 bytes]\n")


def test_memory_has_a_bound_and_the_interpreter_survives_it(tmp_path: Path) -> None:
    limits = JailLimits(memory=300 << 20)
    with (
        Jails().open(tmp_path, JailRequest(limits=limits)) as jail,
        contextlib.closing(PythonWorker(jail)) as result,
    ):
        result.execute("kept = 1")
        assert "MemoryError" in (result.execute("'x' * (1 << 30)").error or "")
        assert result.execute("kept").output == 1


def test_an_interpreter_that_cannot_start_says_why(tmp_path: Path) -> None:
    limits = JailLimits(memory=1 << 20)  # not even Python fits
    with (
        Jails().open(tmp_path, JailRequest(limits=limits)) as jail,
        pytest.raises(JailError, match="not start"),
    ):
        PythonWorker(jail).execute("1")


def test_code_and_variables_that_are_too_large_are_refused(worker: PythonWorker) -> None:
    assert "not run" in (worker.execute("#" * (5 << 20)).error or "")
    with pytest.raises(JailError, match="'big' has"):
        worker.send_variables({"big": "x" * (3 << 20)})
    with pytest.raises(JailError, match="'nan' can't enter"):
        worker.send_variables({"nan": float("nan")})
    assert worker.execute("1").output == 1
