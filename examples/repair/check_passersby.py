"""What a repair of the bug must make true. Agents do not see these tests."""

import inflection
import pytest

CASES = [("passerby", "passersby"), ("Passerby", "Passersby"), ("a passerby", "a passersby")]


@pytest.mark.parametrize(("one", "many"), CASES)
def test_passersby(one, many):
    assert inflection.pluralize(one) == many
    assert inflection.singularize(many) == one


@pytest.mark.parametrize(("_one", "many"), CASES)
def test_a_plural_stays(_one, many):
    assert inflection.pluralize(many) == many


@pytest.mark.parametrize(
    ("one", "many"), [("party", "parties"), ("baby", "babies"), ("bus", "buses")]
)
def test_neighbours_stay(one, many):
    assert inflection.pluralize(one) == many
    assert inflection.singularize(many) == one
