"""Searches texts with regular expressions, in a process that may be killed if it takes too much.

It receives a path for imports, seconds and bytes as JSON, then a question on each line: a pattern
and a text. It answers each with whether the pattern matches, or with why the pattern is invalid.
"""

import json
import resource
import signal
import sys


def main() -> None:
    """Answer questions until there are no more."""
    path, seconds, memory = json.loads(sys.argv[1])
    sys.path[:] = path
    import regex

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks hears of it
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin.buffer:
        pattern, text = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            verdict = regex.search(pattern, text) is not None
        except regex.error as error:
            verdict = str(error)
        except RecursionError:
            verdict = "it is nested too deeply"
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.write(json.dumps(verdict) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
