"""Episodes: what actions do, when it is over, and who has succeeded."""

import itertools
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.benchmarks.plancraft import MOST_STEPS, CraftingEpisode, CraftingWorld, Stack
from coterie.benchmarks.plancraft.recipes import Product, Shaped, Shapeless, Smelted, reachable
from coterie.schema.values.codec import from_value, to_value
from studies.plancraft.players import played_at_random, played_wildly

LOG, PLANKS, STICK = frozenset({"log"}), frozenset({"planks", "board"}), frozenset({"stick"})
NOTHING = frozenset({""})
RECIPES = (
    Shapeless(product=Product(item="planks", count=4), items=(LOG,)),
    Shaped(product=Product(item="stick", count=4), rows=((PLANKS,), (PLANKS,))),
    Shaped(product=Product(item="ladder"), rows=((STICK, NOTHING, STICK),)),
    Shapeless(product=Product(item="log"), items=(PLANKS, PLANKS, STICK)),
    Smelted(product=Product(item="coal"), item=LOG | frozenset({"stick"})),
    Shapeless(product=Product(item="gem"), items=(frozenset({"dust"}), STICK)),
)
NAMES = ("log", "planks", "board", "stick", "coal", "dust")
SLOTS = st.dictionaries(
    st.integers(10, 45),
    st.builds(Stack, st.sampled_from(NAMES), st.integers(1, 20)),
    min_size=1,
    max_size=6,
)


def world(*, target: str = "ladder", steps: int = MOST_STEPS, **slots: Stack) -> CraftingWorld:
    """A world with items in the inventory: `I1=Stack("log", 2)`."""
    there = {int(name[1:]) + 9: stack for name, stack in slots.items()}
    return CraftingWorld(
        target=target, slots=there, recipes=RECIPES, stacks={"stick": 5}, steps=steps
    )


def move(source: str, target: str, quantity: int = 1) -> str:
    return f"move: from [{source}] to [{target}] with quantity {quantity}"


def smelt(source: str, target: str, quantity: int = 1) -> str:
    return f"smelt: from [{source}] to [{target}] with quantity {quantity}"


def shown(episode: CraftingEpisode) -> str:
    """What lies where, in short: `log I1 2, planks 0 4`."""
    lines = episode.observation.split("\n - ")[1:]
    return ", ".join(line.replace("[", "").replace("] quantity", "") for line in lines)


def test_items_on_the_grid_make_what_appears_in_the_output() -> None:
    episode = CraftingEpisode(world(I1=Stack("log", 2)))
    episode.act(move("I1", "B2"))
    assert shown(episode) == "planks 0 4, log B2 1, log I1 1"
    episode.act(move("0", "I2", 2))
    assert shown(episode) == "log I1 1, planks I2 4"


def test_a_pattern_may_lie_anywhere_but_with_nothing_beside_it() -> None:
    episode = CraftingEpisode(world(I1=Stack("planks", 3), I2=Stack("board", 1)))
    episode.act(move("I1", "B3"))
    episode.act(move("I2", "C3"))
    assert "stick 0 4" in shown(episode)
    episode.act(move("I1", "A1"))
    assert "stick" not in shown(episode)


@pytest.mark.parametrize(
    "action",
    [
        move("I9", "A1"),  # nothing there
        move("I1", "I3", 3),  # not so many
        move("I1", "I2"),  # another item
        move("0", "I3"),
        smelt("I2", "I3"),  # nothing that burns
        smelt("I1", "I2"),  # no room for coal
    ],
)
def test_what_cannot_be_done_changes_nothing_and_counts(action: str) -> None:
    episode = CraftingEpisode(world(I1=Stack("log", 2), I2=Stack("dust", 1)))
    before = episode.observation
    assert episode.act(action) == before
    assert (episode.steps, episode.unreadable, episode.is_over) == (1, 0, False)


def test_a_stack_grows_to_its_size_but_an_empty_slot_takes_any_number() -> None:
    episode = CraftingEpisode(world(I1=Stack("stick", 9), I2=Stack("stick", 3)))
    episode.act(move("I1", "I2", 3))
    assert shown(episode) == "stick I1 9, stick I2 3"
    episode.act(move("I1", "I2", 2))
    episode.act(move("I1", "I3", 7))
    assert shown(episode) == "stick I2 5, stick I3 7"


def test_smelting_takes_as_many_as_one_likes() -> None:
    episode = CraftingEpisode(world(target="coal", I1=Stack("log", 7)))
    episode.act(smelt("I1", "I2", 5))
    assert shown(episode) == "log I1 2, coal I2 5"
    assert episode.has_succeeded(impossible=False)


def test_what_was_taken_onto_the_grid_is_not_used_up_with_what_it_was_made_of() -> None:
    episode = CraftingEpisode(world(I1=Stack("log", 2)))
    episode.act(move("I1", "A1", 2))
    episode.act(move("0", "A2", 4))
    assert shown(episode) == "log A1 1, planks A2 4"


def test_in_the_output_the_target_is_not_made_yet() -> None:
    episode = CraftingEpisode(world(I1=Stack("stick", 2)))
    episode.act(move("I1", "A1"))
    episode.act(move("I1", "A3"))
    assert "ladder 0 1" in shown(episode)
    assert not episode.has_target
    episode.act(move("0", "I5"))
    assert episode.has_target
    assert episode.is_over
    assert episode.has_succeeded(impossible=False)


def test_giving_up_is_right_where_it_is_impossible() -> None:
    episode = CraftingEpisode(world(I1=Stack("log", 1)))
    assert episode.act("impossible: no sticks") == ""
    assert episode.is_over
    assert episode.has_succeeded(impossible=True)
    assert not episode.has_succeeded(impossible=False)


def test_the_last_step_still_counts_and_nothing_after_it() -> None:
    episode = CraftingEpisode(world(target="coal", steps=2, I1=Stack("log", 2)))
    episode.act("what now?")
    episode.act(smelt("I1", "I2"))
    assert episode.has_target
    late = CraftingEpisode(world(target="coal", steps=2, I1=Stack("log", 2)))
    report = [late.act(text) for text in ("what now?", "move:", smelt("I1", "I2"))]
    assert report[2] == ""
    assert (late.steps, late.unreadable, late.has_target) == (2, 2, False)


@given(SLOTS, st.sampled_from([*NAMES, "gem"]), st.randoms(use_true_random=False))
def test_unfit_recipes_change_nothing(slots: dict[int, Stack], target: str, chance: Random) -> None:
    full = CraftingWorld(target=target, slots=slots, recipes=RECIPES, stacks={})
    items = frozenset(stack.item for stack in slots.values())
    few = CraftingWorld(target=target, slots=slots, recipes=reachable(RECIPES, items), stacks={})
    texts = played_wildly(full, chance)
    item, other = CraftingEpisode(full), CraftingEpisode(few)
    assert [item.act(text) for text in texts] == [other.act(text) for text in texts]
    assert to_value(from_value(CraftingWorld, to_value(few))) == to_value(few)


@given(SLOTS, st.randoms(use_true_random=False))
def test_moving_loses_nothing_and_never_overfills(slots: dict[int, Stack], chance: Random) -> None:
    nothing = CraftingWorld(target="gem", slots=slots, recipes=(), stacks={})
    episode = played_at_random(nothing, chance)
    assert counted(episode) == counted(CraftingEpisode(nothing))
    assert all(1 <= slot <= 45 for slot in episode.slots)


SOME = st.frozensets(st.sampled_from("abcd"), min_size=1)


@given(st.lists(SOME, min_size=1, max_size=4), st.lists(st.sampled_from(["", *"abcd"]), max_size=5))
def test_items_each_stand_for_a_need(needs: list[frozenset[str]], grid: list[str]) -> None:
    recipe = Shapeless(product=Product(item="gem"), items=tuple(needs))
    mixtures = {tuple(sorted(mixture)) for mixture in itertools.product(*needs)}
    assert recipe.fits(grid) == (tuple(sorted(filter(None, grid))) in mixtures)


def test_a_recipe_with_more_mixtures_than_can_be_listed_is_made_like_any_other() -> None:
    many = frozenset("abcdefghijkl")
    recipe = Shapeless(product=Product(item="gem"), items=(many,) * 8 + (frozenset("z"),))
    assert recipe.fits("zabcdefgh")
    assert not recipe.fits("abcdefghi")


def counted(episode: CraftingEpisode) -> Counter[str]:
    total: Counter[str] = Counter()
    for stack in episode.slots.values():
        total[stack.item] += stack.quantity
    return total
