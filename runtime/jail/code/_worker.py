"""The interpreter inside a jail: runs cells of code that the host sends, and keeps their variables.

Run inside the jail, by the interpreter alone, as `python -I -S _worker.py MESSAGE OUTPUT`. The
arguments are the most bytes of one message and of one cell's output.

Host and interpreter exchange JSON, one message a line, over the original standard input and output:

    host: {"op": "tools", "names": [...]}     functions that the host runs when they are called
    host: {"op": "variables", "values": {}}   variables for the cells
    host: {"op": "run", "code": "..."}        answered by {"op": "done", ...} when the cell ends
    here: {"op": "call", "name", "args", "kwargs"}   answered by {"op": "result"} or {"op": "error"}

Standard output and error become one stream with the cells' output. Nothing here protects the host:
a cell can do whatever this process can, so the host trusts none of its messages.
"""

# pyright: basic, reportUnknownParameterType=false, reportMissingParameterType=false

import _ast
import builtins
import io
import json
import os
import sys
from _thread import allocate_lock

_FRAMES = 20  # of a traceback
_DEEPEST = 60  # levels of lists and dicts in a value; the host takes a few more in a message
_LONGEST_INTEGER = 14_000  # bits; Python writes and reads no more than 4300 digits


class FinalAnswer(BaseException):
    """Ends a cell with the whole task's answer; `except Exception` does not catch it."""

    def __init__(self, value):
        super().__init__(value)
        self.value = value


class HostConnection:
    """The connection to the host. The thread that holds `turn` waits for the answer to its call."""

    def __init__(self, incoming, outgoing, limit):
        self._lines = os.fdopen(incoming, "rb")
        self._outgoing = outgoing
        self._limit = limit
        self.turn = allocate_lock()
        self.forked = False
        os.register_at_fork(after_in_child=self._close)

    def _close(self):
        """Leave the connection to the parent: two processes would read each other's answers."""
        os.close(self._outgoing)
        self.forked = True

    def send(self, message):
        text = json.dumps(message, ensure_ascii=False, allow_nan=False)
        line = memoryview(text.encode("utf-8", "replace") + b"\n")
        if len(line) > self._limit:
            raise ValueError(f"{len(line)} bytes are more than the {self._limit} of one message")
        while line:
            line = line[os.write(self._outgoing, line) :]

    def receive(self):
        line = self._lines.readline()
        return json.loads(line) if line else None

    def call(self, name, args, kwargs):
        if self.forked:
            raise RuntimeError("tools can't be called from a forked process")
        with self.turn:
            try:
                if is_deep((args, kwargs)):
                    raise ValueError(f"more than {_DEEPEST} levels")  # noqa: TRY301 - as below
                self.send({"op": "call", "name": name, "args": args, "kwargs": kwargs})
            except (TypeError, ValueError) as error:
                raise TypeError(f"{name} takes only what JSON can hold: {error}") from None
            answer = self.receive()
        if answer is None:
            raise RuntimeError("the host does not answer any more")
        if answer["op"] == "error":
            raise RuntimeError(answer["text"])
        return answer["value"]


class Output(io.TextIOWrapper):
    """Standard output with a limit; it drops the excess, so that a flood costs little."""

    def __init__(self, handle, limit):
        super().__init__(open(handle, "wb"), "utf-8", "replace", line_buffering=True)
        self._limit = self._room = limit

    def write(self, text):
        if self._room > 0:
            # One byte beyond the limit tells the host that output is missing.
            super().write(text[: self._room + 1])
        self._room -= len(text)
        return len(text)

    def renew(self):
        """Reset the limit for the next cell, and undo the last cell's changes to its streams."""
        self._room = self._limit
        for standard in (1, 2):
            os.dup2(self.fileno(), standard)
        sys.stdout = sys.stderr = self


class Interpreter:
    """Runs cells, one after the other, in one module."""

    def __init__(self, wire, output):
        self._wire = wire
        self._output = output
        self._count = 0
        self._module = type(sys)("__main__")
        sys.modules["__main__"] = self._module
        setattr(builtins, "final_answer", final_answer)  # noqa: B010 - checkers do not know it

    def tools(self, names):
        for name in names:
            # Built in, not a variable: a cell that assigns the name hides it, and may delete it.
            setattr(builtins, name, self._tool(name))

    def variables(self, values):
        vars(self._module).update(values)

    def run(self, code):
        self._count += 1
        self._output.renew()
        reply = {"op": "done", "value": None, "final": False, "error": None}
        try:
            reply["value"] = self._run(code, f"<cell {self._count}>")
        except FinalAnswer as answer:
            reply["value"], reply["final"] = answer.value, True
        except BaseException as error:  # noqa: BLE001 - also SystemExit: the cell ends, not we
            reply["error"] = describe(error, code, f"<cell {self._count}>")
        reply["value"] = portable(reply["value"])
        self._output.flush()
        return reply

    def _run(self, code, name):
        tree = compile(code, name, "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)
        last = take_last_expression(tree)
        namespace = vars(self._module)
        exec(compile(tree, name, "exec", dont_inherit=True), namespace)  # noqa: S102  # pyright: ignore[reportArgumentType]
        if last is None:
            return None
        return eval(compile(last, name, "eval", dont_inherit=True), namespace)  # noqa: S307

    def _tool(self, name):
        def tool(*args, **kwargs):
            return self._wire.call(name, args, kwargs)

        tool.__name__ = tool.__qualname__ = name
        return tool


def final_answer(answer):
    """End the task with this answer."""
    raise FinalAnswer(answer)


def take_last_expression(tree):
    """Remove a module's last statement if it is an expression, and return it to evaluate."""
    last = tree.body[-1] if tree.body else None
    if isinstance(last, _ast.Expr):
        tree.body.pop()
        return _ast.Expression(last.value)
    if isinstance(last, _ast.Assign) and isinstance(last.targets[0], _ast.Name):
        shown = last.targets[0]
        place = {"lineno": shown.lineno, "col_offset": shown.col_offset}
        return _ast.Expression(_ast.Name(shown.id, _ast.Load(), **place))
    return None


def portable(value):
    """Return a value unchanged if JSON can carry it, else its `repr`."""
    try:
        return value if not is_deep(value) and is_json(value) else repr(value)
    except BaseException as error:  # noqa: BLE001 - the cell's own classes can raise anything
        return f"<a {type(value).__name__} without text: {type(error).__name__}>"


def is_json(value):
    if type(value) is float:
        return value - value == 0  # neither infinite nor "not a number"
    if type(value) is int:
        return value.bit_length() < _LONGEST_INTEGER
    if type(value) in (str, bool, type(None)):
        return True
    if type(value) in (list, tuple):
        return all(map(is_json, value))
    if type(value) is dict:
        return all(type(key) is str for key in value) and all(map(is_json, value.values()))
    return False


def is_deep(value, levels=_DEEPEST):
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return False
    return levels == 0 or any(is_deep(item, levels - 1) for item in value)


def describe(error, code, name):
    """Return the traceback of an error, starting at the cell's code."""
    import linecache
    import traceback

    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    try:
        report = traceback.TracebackException.from_exception(error, limit=-_FRAMES)
        shown = [frame for frame in report.stack if frame.filename != __file__]
        report.stack = traceback.StackSummary.from_list(shown)
        text = "".join(report.format()).strip()
    except BaseException:  # noqa: BLE001 - the cell's own classes can raise anything
        text = f"{type(error).__name__}, whose text can't be shown"
    return text


def answer(wire, reply):
    try:
        wire.send(reply)
    except ValueError as error:
        wire.send(reply | {"value": None, "final": False, "error": f"The result is lost: {error}."})


def main(message_limit, output_limit):
    """Serve the host until it closes the connection."""
    sys.path += [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), os.getcwd()]
    wire = HostConnection(os.dup(0), os.dup(1), message_limit)
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    output = Output(os.dup(2), output_limit)
    interpreter = Interpreter(wire, output)
    with wire.turn:
        wire.send({"op": "ready"})
        while (message := wire.receive()) is not None:
            if message["op"] == "tools":
                interpreter.tools(message["names"])
            elif message["op"] == "variables":
                interpreter.variables(message["values"])
            else:
                wire.turn.release()
                reply = interpreter.run(message["code"])
                if wire.forked:
                    os._exit(0)
                wire.turn.acquire()
                answer(wire, reply)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
