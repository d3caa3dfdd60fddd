"""Code in an answer is found whole, whatever fences it has in it."""

from random import Random

from coterie.runtime.runners.smolagents._adapters import ends_in_code, whole_code

from ....canned import seeds

LINES = (
    "x = 1",
    "print('a')",
    "s = '''\n```\n'''",
    't = """\n```py\nno\n```\n"""',
    "# ```",
    "y = [1]",
)


def test_a_block_is_found_whole_whatever_is_in_it(nightly: bool) -> None:
    for seed in seeds(nightly):
        chance = Random(seed)
        code = "\n".join(chance.choice(LINES) for _ in range(chance.randint(1, 5)))
        text = f"Thought: go.\n```{chance.choice(['py', 'python'])}\n{code}\n```"
        result = whole_code(text)
        assert result == (f"<code>\n{code}\n</code>" if "\n```" in code else text), text


def test_what_stands_in_one_way_only_is_left_as_it_is() -> None:
    for text in ("no code", "```py\nx = 1\n```", "<code>\ns = '```py'\n</code>", "```py\nx = ("):
        assert whole_code(text) == text
        assert not ends_in_code(text)


def test_the_sign_of_the_end_within_code_is_noticed() -> None:
    assert ends_in_code("<code>\ns = '</code>'\nprint(s)\n</code>")
    assert ends_in_code('<code>\ns = """</code>')
    assert not ends_in_code("<code>\nx = (1\n</code>")
