"""Which processor kernels are compiled for: what is asked, and what there is."""

from __future__ import annotations

import platform
from collections.abc import Iterator

import pytest
from llvmlite import binding

from flexor.errors import SettingError
from flexor.maths.machine import target
from flexor.maths.machine.target import LEVELS, Target, find_target

BEST = "x86-64-v3"


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine that has everything; nothing asked; nothing remembered."""
    monkeypatch.delenv("FLEXOR_CPU", raising=False)
    has_only(monkeypatch, *LEVELS[BEST])
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    find_target.cache_clear()
    yield
    find_target.cache_clear()


class Features(dict[str, bool]):
    """As LLVM gives them."""

    def flatten(self) -> str:
        return ",".join(f"{'+' if has else '-'}{name}" for name, has in self.items())


def has_only(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    features = Features({name: name in names for name in (*LEVELS[BEST], "other")})
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: features)
    monkeypatch.setattr(binding, "get_host_cpu_name", lambda: "some-lake")


def test_levels_stand_on_each_other() -> None:
    assert list(LEVELS) == ["x86-64-v3", "x86-64-v2", "x86-64"]
    third, second, first = (set(needed) for needed in LEVELS.values())
    assert third > second > first == set()
    assert second == {"cx16", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"}
    more = {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}
    assert third - second == more, "as the makers of processors agreed"


@pytest.mark.parametrize("level", LEVELS)
def test_the_best_level_that_the_machine_has(
    level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_only(monkeypatch, *LEVELS[level])
    assert find_target() == Target(level, level, "")


@pytest.mark.parametrize("missing", LEVELS[BEST])
def test_one_feature_too_few(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    has_only(monkeypatch, *(set(LEVELS[BEST]) - {missing}))
    is_second = missing in LEVELS["x86-64-v2"]
    assert find_target().key == ("x86-64" if is_second else "x86-64-v2")


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_that_is_asked_for(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXOR_CPU", level)
    assert find_target() == Target(level, level, "")


def test_a_level_that_the_machine_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXOR_CPU", BEST)
    has_only(monkeypatch, *(set(LEVELS[BEST]) - {"avx2", "fma"}))
    with pytest.raises(SettingError, match=f"{BEST}: this machine has no avx2, fma"):
        find_target()


@pytest.mark.parametrize("name", ["x86-64-v9", "generic", "NATIVE", "skylake", " "])
def test_an_unknown_level(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXOR_CPU", name)
    with pytest.raises(SettingError, match=r"expected x86-64-v3, .* or native"):
        find_target()


@pytest.mark.parametrize("machine_name", ["x86_64", "aarch64"])
def test_native_is_what_the_machine_has(
    machine_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Machines of one name with other features do not share files."""
    monkeypatch.setattr(platform, "machine", lambda: machine_name)
    monkeypatch.setenv("FLEXOR_CPU", "native")
    one = find_target()
    assert one.processor == "some-lake"
    assert one.key.startswith("some-lake-")
    assert "+avx2" in one.features
    find_target.cache_clear()
    has_only(monkeypatch, "avx")
    other = find_target()
    assert other.key != one.key
    assert "-avx2" in other.features


@pytest.mark.parametrize("name", ["AMD64", "amd64"])
def test_other_names_of_the_same_machine(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: name)
    assert find_target().key == BEST


@pytest.mark.parametrize("asked", ["", "generic"])
@pytest.mark.parametrize("name", ["aarch64", "arm64"])
def test_other_machines(name: str, asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: name)
    monkeypatch.setenv("FLEXOR_CPU", asked)
    assert find_target() == Target(f"{name}-generic", "generic", "")


def test_levels_are_not_for_other_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    monkeypatch.setenv("FLEXOR_CPU", BEST)
    with pytest.raises(SettingError, match="expected generic or native"):
        find_target()


def test_it_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was loaded before must go with what is loaded later."""
    first = find_target()
    monkeypatch.setenv("FLEXOR_CPU", "x86-64")
    assert find_target() is first


def test_llvm_knows_the_names() -> None:
    """Of levels, and of features: a name that it does not know is never there."""
    binding.initialize_native_target()
    triple = binding.Target.from_default_triple()
    for level in target.LEVELS:
        assert triple.create_target_machine(cpu=level) is not None
