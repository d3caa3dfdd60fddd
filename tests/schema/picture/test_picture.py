import pytest

from coterie.schema import Team
from coterie.schema.picture import FORMATS, draw


@pytest.mark.parametrize("picture_format", FORMATS)
def test_every_format_draws_every_team_the_same_way(team: Team, picture_format: str) -> None:
    picture = draw(team, picture_format)
    assert picture.endswith("\n")
    assert not picture.endswith("\n\n")
    assert draw(team, picture_format) == picture


def test_an_unknown_format_is_refused(vote: Team) -> None:
    with pytest.raises(KeyError, match="jpeg"):
        draw(vote, "jpeg")
