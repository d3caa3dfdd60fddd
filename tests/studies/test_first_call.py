"""The way to a first answer is measured on the real program."""

from coterie.runtime.doubles import ScriptedModel
from studies.first_call import measured


def test_a_first_answer_takes_time_and_memory() -> None:
    with ScriptedModel("Hello.") as model:
        cost = measured("a provider, called directly", model.api_base)
        assert len(model.calls) == 1
    assert cost.cpu > 0
    assert 10 < cost.peak < 1000
