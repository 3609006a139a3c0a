"""Which formats there are, and in which order they are named."""

from __future__ import annotations

from collections import Counter

from flexor.output.format import find_formats
from flexor.output.image import IMAGES
from flexor.output.movie import MOVIES


def test_order_of_endings() -> None:
    assert list(IMAGES) == [".png", ".jpg", ".jpeg", ".webp"]
    assert list(MOVIES) == [".mp4", ".webp", ".gif", ".apng", ".npy"]


def test_every_format_writes_something_of_its_own() -> None:
    forms = find_formats()
    endings = Counter(ending for form in forms for ending in form.endings)
    assert set(endings.values()) == {1}
    assert all(ending.startswith(".") and ending.islower() for ending in endings)
    assert all(form.encode or form.open for form in forms)
