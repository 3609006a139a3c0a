"""Files of machine code: what goes in comes out, and damage is always seen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from flexor.maths.machine.code import DamagedCode, Object, pack_code, unpack_code

objects = some.builds(Object, some.text(), some.text(), some.binary())
ONE = pack_code([Object("first", "kernel0", b"\x7fELF\n\0"), Object("next", "k", b"")])


@given(some.lists(objects, max_size=5))
def test_there_and_back(several: list[Object]) -> None:
    assert unpack_code(pack_code(several)) == several


@given(some.binary())
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(DamagedCode):
        unpack_code(data)


@given(some.lists(objects, max_size=3), some.data())
def test_one_changed_byte_is_seen(several: list[Object], data: some.DataObject) -> None:
    whole = bytearray(pack_code(several))
    at = data.draw(some.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(some.integers(1, 255))
    with pytest.raises(DamagedCode):
        unpack_code(bytes(whole))


@pytest.mark.parametrize("at", range(len(ONE)))
def test_every_byte_counts(at: int) -> None:
    damaged = ONE[:at] + bytes([ONE[at] ^ 1]) + ONE[at + 1 :]
    for data in (damaged, ONE[:at], ONE[:at] + ONE[at + 1 :], ONE + ONE[at:]):
        with pytest.raises(DamagedCode, match="not a whole file"):
            unpack_code(data)


def test_another_version_is_refused() -> None:
    assert ONE.startswith(b"flexor kernels 1 ")
    with pytest.raises(DamagedCode):
        unpack_code(ONE.replace(b"kernels 1", b"kernels 2"))


def test_it_is_an_error_of_values() -> None:
    assert issubclass(DamagedCode, ValueError)
