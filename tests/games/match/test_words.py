"""Where words go over a fight."""

from __future__ import annotations

from flexor.games.match.screen import place_words

SIZE, WORDS = (640, 480), (160, 60)


def test_words_stay_where_they_are_while_two_close_in_below_them() -> None:
    """Between heads there would be room at first, and then not."""
    places = set()
    for apart in range(400, 20, -10):
        heads = [
            (x - 20.0, 150.0, x + 20.0, 190.0)
            for x in (320 - apart / 2, 320 + apart / 2)
        ]
        bodies = [
            (x - 30.0, 150.0, x + 30.0, 400.0)
            for x in (320 - apart / 2, 320 + apart / 2)
        ]
        places.add(place_words(heads, bodies, WORDS, SIZE))
    assert len(places) == 1
    ((x, y),) = places
    assert x == 320
    assert 35 < y < 150 - WORDS[1], "below the clock, above heads"


def test_words_go_elsewhere_when_a_head_comes_to_them() -> None:
    _, free = place_words([], [], WORDS, SIZE)
    head = (300.0, free + 10.0, 340.0, free + 50.0)
    body = (290.0, free + 10.0, 350.0, free + 300.0)
    _, y = place_words([head], [body], WORDS, SIZE)
    assert y >= free + 300 or y + WORDS[1] <= free + 10
