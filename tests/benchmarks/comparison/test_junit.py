"""JUnit XML of samples: any text a model writes leaves it XML."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from coterie.benchmarks.comparison.junit import as_junit
from coterie.benchmarks.evaluation.samples import Sample


@given(text=st.text(st.characters()), score=st.none() | st.floats(0, 1))
def test_any_text_is_a_test_in_xml(text: str, score: float | None) -> None:
    sample = Sample(
        task="a", trial=1, niche=text, status="done", score=score, answer=text, reason=text,
        error=text,
    )  # fmt: skip
    suite = ElementTree.fromstring(as_junit(text, [sample], least=0.5).encode())[0]  # noqa: S314 - ours
    (test,) = suite
    assert test.get("name") == "a"
    kinds = [child.tag for child in test]
    expected = "error" if score is None else "failure" if score < 0.5 else None
    assert kinds == ([expected] if expected else [])
    assert (suite.get("failures"), suite.get("errors")) == (
        str(kinds.count("failure")), str(kinds.count("error")),
    )  # fmt: skip
