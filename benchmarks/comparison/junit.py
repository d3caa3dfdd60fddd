"""Samples and comparisons as JUnit XML for CI systems, with one test each.

The format is that of https://github.com/testmoapp/junitxml. Text of models is escaped, without the
characters that XML 1.0 (section 2.2) does not allow.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..evaluation.samples import Sample
    from .comparing import Comparison

_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LONGEST = 20_000
"""Maximum characters of an answer."""


def as_junit(name: str, samples: Iterable[Sample], *, least: float) -> str:
    """Return samples as JUnit XML.

    Args:
        samples: The samples; each is a test.
        least: A test fails if its score is below. One without a score is an error, not a failure.
    """
    return _suite(name, [_test(name, sample, least) for sample in samples])


def comparisons_as_junit(comparisons: Iterable[Comparison], *, margin: float) -> str:
    """Return comparisons as JUnit XML.

    Args:
        margin: A test fails if its second evaluation is worse by more than this.
    """
    return _suite("compare", [_compared(comparison, margin) for comparison in comparisons])


def _compared(comparison: Comparison, margin: float) -> Element:
    named = " and ".join(comparison.names)
    fields = {"name": _plain(named), "classname": "compare", "time": "0.000"}
    test = Element("testcase", fields)
    if comparison.is_worse(margin):
        failure = SubElement(test, "failure", {"message": _plain(comparison.headline)})
        failure.text = _plain(str(comparison))
    return test


def _suite(name: str, tests: Sequence[Element]) -> str:
    failures = sum(test.find("failure") is not None for test in tests)
    errors = sum(test.find("error") is not None for test in tests)
    seconds = sum(float(test.attrib["time"]) for test in tests)
    counts = {"tests": len(tests), "failures": failures, "errors": errors, "time": f"{seconds:.3f}"}
    fields = {key: str(count) for key, count in counts.items()}
    suites = Element("testsuites", {"name": _plain(name), **fields})
    SubElement(suites, "testsuite", {"name": _plain(name), **fields}).extend(tests)
    indent(suites)
    return tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _test(suite: str, sample: Sample, least: float) -> Element:
    named = sample.task if sample.trial == 1 else f"{sample.task}, trial {sample.trial}"
    group = f"{suite}.{sample.niche}" if sample.niche else suite
    fields = {"name": named, "classname": group, "time": f"{sample.seconds:.3f}"}
    test = Element("testcase", {key: _plain(text) for key, text in fields.items()})
    if sample.score is None:
        SubElement(test, "error", {"message": _plain(sample.error or "no score")})
    elif sample.score < least:
        why = sample.reason or sample.error or ""
        failure = SubElement(test, "failure", {"message": _plain(f"score {sample.score:g}: {why}")})
        failure.text = _plain(sample.answer or "")
    return test


def _plain(text: str) -> str:
    return _NO_XML.sub("", text[:LONGEST])
