"""The page of a repair: whole, self-contained, the worst joints first, with sliders."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.api.repair.joint_pictures import FRAMES
from flexor.api.repair.page import SIZE, repair_page
from flexor.convert.repair.report import JointChange, RepairReport, report_repair
from flexor.convert.repair.trials import JointTrial
from flexor.convert.shape.facts import SceneFacts
from flexor.convert.shape.judge_joints import JointScore
from flexor.convert.shape.measure_joints import JointMeasure
from flexor.errors import SettingError
from flexor.scene.finding import Finding
from tests.convert.shape.tubes import linked, tube_scene
from tests.scenes import plain_scene, random_skeleton

VOID = {"meta", "img", "br", "link", "input"}
VIEWS = 3  # before, after, difference
BAD = "<b>&\"'\x00\ud800<script>alert(1)</script>|"

pytestmark = pytest.mark.slow  # thousands of vertices


class Page(HTMLParser):
    """A page taken apart; refuses tags that do not match."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(data.decode("utf-8"))
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.text += data

    def of(self, tag: str, **attributes: str) -> list[dict[str, Any]]:
        return [
            own
            for name, own in self.tags
            if name == tag and attributes.items() <= own.items()
        ]

    def stages(self) -> list[list[dict[str, Any]]]:
        """The pictures of each stage, in order."""
        found: list[list[dict[str, Any]]] = []
        for tag, own in self.tags:
            if tag == "div" and own.get("class") == "stage":
                found.append([])
            elif tag == "img":
                found[-1].append(own)
        return found


@pytest.fixture(scope="module")
def hero() -> Character:
    return flexor.samples.mannequin()


@pytest.fixture(scope="module")
def pair() -> tuple[Character, Character]:
    """A tube, and the same with links at its one joint."""
    scene = tube_scene(1.0)
    return Character(scene), Character(linked(scene, count=3))


@pytest.fixture(scope="module")
def report(pair: tuple[Character, Character]) -> RepairReport:
    facts = [SceneFacts(hero.scene) for hero in pair]
    return report_repair(facts[0], facts[1], ("links",), ())


def report_of(joints: tuple[JointChange, ...] = (), **more: object) -> RepairReport:
    plain = RepairReport(("smooth",), (), joints, 3, 12, 4, 4)
    return replace(plain, **more)  # type: ignore[arg-type]


def page_of(
    before: Character, after: Character, report: RepairReport, **words: Any
) -> Page:
    given: dict[str, Any] = {"title": "hero.glb", "notes": [("links", "3")], **words}
    return Page(repair_page(before, after, report, **given))


def score(node: int, amount: float) -> JointScore:
    return JointScore(node, node, "", amount, 0.0, 4.0, 3.0, 2.0, 0.7)


def change(node: int, name: str, old: float = 0.3, new: float = 0.1) -> JointChange:
    """A joint that changed; old, new: its scores."""
    trial = JointTrial(2, (0.0, 0.0, 1.0), 1.0, -0.5, 1.0, old, new)
    looks = score(node, old), score(node, new)
    return JointChange(node, name, 5, 0.5, 0, None, None, *looks, trial)


def changes(hero: Character, **scores: tuple[float, float]) -> tuple[JointChange, ...]:
    """Joints of a character by name, `_` for `-`, with their scores."""
    names = [name.replace("_", "-") for name in scores]
    return tuple(
        change(hero.skeleton.index(name), name, *both)
        for name, both in zip(names, scores.values(), strict=True)
    )


@pytest.mark.jit
def test_each_joint_has_a_slider_with_a_frame_for_each_picture(
    pair: tuple[Character, Character], report: RepairReport
) -> None:
    page = page_of(*pair, report)
    assert [one["id"] for one in page.of("section")] == ["joint-1"]
    (slider,) = page.of("input")
    assert slider["type"] == "range"
    assert (slider["min"], slider["step"]) == ("0", "1")
    count = int(slider["max"]) + 1
    said = slider["data-said"].split("|")
    assert count == len(said) == FRAMES
    assert said.count("at rest") == 1
    assert slider["aria-valuetext"] == said[int(slider["value"])]
    stages = page.stages()
    assert len(stages) == VIEWS
    ways = ("before", "after", "difference")
    for stage, when in zip(stages, ways, strict=True):
        assert [image["alt"] for image in stage] == [f"j1, {w}, {when}" for w in said]
        shown = [at for at, image in enumerate(stage) if "hidden" not in image]
        assert shown == [int(slider["value"])]
        assert len({image["src"] for image in stage}) > count / 2
    (output,) = page.of("output")
    assert output["for"] == slider["id"]


@pytest.mark.jit
def test_page_needs_nothing_else(
    pair: tuple[Character, Character], report: RepairReport
) -> None:
    from PIL import Image

    data = repair_page(*pair, report, title="a", notes=[])
    text = re.sub(r'"data:image/webp;base64,[^"]*"', "", data.decode("utf-8"))
    wanted = r"https?:|//[a-z]|@import|url\(|<link|<iframe|fetch|import|eval"
    assert not re.search(wanted, text)
    page = Page(data)
    assert page.of("script") == [{}]
    for _, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href", "srcset", "data", "action"):
            value = attributes.get(name)
            assert value is None or value.startswith(("data:image/", "#joint-"))
    for image in page.of("img"):
        head, _, code = str(image["src"]).partition(",")
        assert head == "data:image/webp;base64"
        with Image.open(BytesIO(base64.b64decode(code, validate=True))) as picture:
            assert picture.size == SIZE
    ids = {attributes.get("id") for _, attributes in page.tags}
    links = page.of("a")
    assert links
    assert all(str(link["href"])[1:] in ids for link in links)


@pytest.mark.jit
def test_same_input_gives_same_bytes(
    pair: tuple[Character, Character], report: RepairReport
) -> None:
    pages = [
        repair_page(one, pair[1], report, title="a", notes=[])
        for one in (pair[0], Character(pair[0].scene))
    ]
    assert pages[0] == pages[1]


@pytest.mark.jit
def test_the_worst_come_first_before_or_after(hero: Character) -> None:
    """One that became bad is as bad as one that was."""
    rows = changes(
        hero, l_knee=(0.2, 0.1), l_elbow=(0.9, 0.1), neck=(0.1, 0.5), r_knee=(0.3, 0.3)
    )
    page = page_of(hero, hero, report_of(rows))
    order = [hero.skeleton.index(n) for n in ("l-elbow", "neck", "r-knee", "l-knee")]
    assert [one["id"] for one in page.of("section")] == [f"joint-{n}" for n in order]
    assert [link["href"] for link in page.of("a")] == [f"#joint-{n}" for n in order]
    text = re.sub(r"\s+", " ", page.text)
    assert "joints that look2 better 1 worse 1 as before" in text
    assert "0.90 \u2192 0.10 \u25b2" in text
    assert "0.10 \u2192 0.50 \u25bc" in text


@pytest.mark.jit
def test_limit_leaves_out_what_looks_best(hero: Character) -> None:
    rows = changes(hero, l_knee=(0.2, 0.1), l_elbow=(0.9, 0.1), neck=(0.5, 0.1))
    count = 0

    def advance() -> None:
        nonlocal count
        count += 1

    page = page_of(hero, hero, report_of(rows), most_joints=2, advance=advance)
    shown = [f"joint-{hero.skeleton.index(name)}" for name in ("l-elbow", "neck")]
    assert [one["id"] for one in page.of("section")] == shown
    assert "1 joint more has changes or faults that are not shown" in page.text
    assert "--joints 'NAME*'" in page.text
    assert count == 2 * FRAMES  # nothing moved, so there is no after
    assert [len(stage) for stage in page.stages()] == [FRAMES] * 2
    few = page_of(hero, hero, report_of(rows), most_bytes=1000)
    assert len(few.of("section")) == 1
    assert "2 joints more have" in few.text


@pytest.mark.jit
def test_only_joints_of_given_names(hero: Character) -> None:
    rows = changes(hero, l_knee=(0.2, 0.1), l_elbow=(0.9, 0.1), neck=(0.5, 0.1))
    page = page_of(hero, hero, report_of(rows), names=["*-knee", "<x>"])
    node = hero.skeleton.index("l-knee")
    assert [one["id"] for one in page.of("section")] == [f"joint-{node}"]
    assert "Only joints of these names: *-knee, <x>." in page.text
    assert "l-elbow" in page.text  # the table has all


@pytest.mark.jit
def test_joints_that_only_look_bad_are_shown_too(hero: Character) -> None:
    bad, fine = changes(hero, l_knee=(0.4, 0.4), neck=(0.01, 0.01))
    rows = tuple(replace(one, vertices=0) for one in (bad, fine))
    page = page_of(hero, hero, report_of(rows))
    assert [one["id"] for one in page.of("section")] == [f"joint-{bad.node}"]
    assert "its own weights did not change" in page.text
    assert "before and after: the same" in page.text
    assert "1 did not change and do not look bad" in page.text


@pytest.mark.jit
def test_joints_that_bend_nothing_are_named(hero: Character) -> None:
    rows = changes(hero, hips=(0.9, 0.9), neck=(0.5, 0.5))
    page = page_of(hero, hero, report_of(rows))
    assert len(page.of("section")) == 1
    assert "1 joint more has" in page.text
    none = page_of(hero, hero, report_of(rows), most_joints=0)
    assert not none.of("img")
    assert "No pictures were asked for" in none.text


def test_nothing_changed() -> None:
    hero = Character(tube_scene(1.0))
    facts = SceneFacts(hero.scene)
    same = report_repair(facts, facts, (), (), has_measures=False)
    page = page_of(hero, hero, same)
    assert not page.of("img")
    assert "No joint changed, and none looks bad." in page.text
    assert "3 did not change" in page.text


@pytest.mark.jit
def test_what_was_not_measured_has_no_pictures(
    pair: tuple[Character, Character],
) -> None:
    facts = [SceneFacts(hero.scene) for hero in pair]
    plain = report_repair(facts[0], facts[1], (), (), has_measures=False)
    page = page_of(*pair, plain)
    assert not page.of("img")
    assert "nothing that changed was measured" in page.text


@pytest.mark.jit
def test_texts_are_escaped(
    pair: tuple[Character, Character], report: RepairReport
) -> None:
    finding = Finding("warning", BAD, BAD, BAD)
    joints = tuple(replace(joint, name=BAD) for joint in report.joints)
    hostile = replace(report, joints=joints, findings=(finding,), passes=(BAD,))
    words = {"title": BAD, "notes": [(BAD, BAD)]}
    page = page_of(*pair, hostile, **words)
    assert page.of("script") == [{}]  # its own
    assert len(page.of("b")) == 1  # the finding's own
    assert "alert(1)" in page.text
    assert "\x00" not in page.text
    (slider,) = page.of("input")
    assert slider["aria-label"].startswith("turn of <b>&\"'")
    assert len(slider["data-said"].split("|")) == FRAMES
    assert all(image["alt"].startswith("<b>&\"'") for image in page.of("img"))
    names = page_of(*pair, report, names=[BAD, "j1"])
    assert names.of("script") == [{}]
    assert not names.of("b")


def test_character_without_meshes_still_has_a_page() -> None:
    hero = Character(plain_scene(random_skeleton(np.random.default_rng(2), 4)))
    page = page_of(hero, hero, report_of((change(1, "a"), change(2, "b"))))
    assert not page.of("img")
    assert "No pictures" in page.text
    empty = page_of(hero, hero, report_of(vertex_count=0, vertices=0))
    assert "No joint changed" in empty.text


@pytest.mark.jit
def test_measures_are_marked_better_or_worse(
    pair: tuple[Character, Character], report: RepairReport
) -> None:
    old = JointMeasure(0, 1, "a", 0.6, 0.5, 0.9, 0.4, 0.1)
    new = JointMeasure(0, 1, "a", 0.9, 0.4, 0.9, 0.401, None)
    rows = tuple(
        replace(joint, before=old, after=new) if joint.trial else joint
        for joint in report.joints
    )
    data = repair_page(*pair, replace(report, joints=rows), title="a", notes=[])
    facts = data.decode("utf-8").split('<ul class="said')[1].split("</ul>")[0]
    plain = re.sub(r"<[^>]*>|\u202f", "", facts.replace("<li>", "; "))
    assert "volume left bent 90\u00b0 60% \u2192 90% \u25b2; " in plain
    assert "volume left bent 150\u00b0 50% \u2192 40% \u25bc; " in plain
    assert "volume left twisted 180\u00b0 40% \u2192 40%; " in plain
    assert facts.count('class="better"') == facts.count('class="worse"') == 1


def test_many_findings_and_joints_are_cut_short() -> None:
    hero = Character(plain_scene(random_skeleton(np.random.default_rng(4), 3)))
    findings = tuple(Finding("info", "odd", f"n{i}", "text") for i in range(250))
    joints = tuple(change(i, f"j{i}") for i in range(50))
    page = page_of(hero, hero, report_of(joints, findings=findings))
    assert "and 50 more" in page.text
    assert "244 more" in page.text
    assert "20 more that look less bad" in page.text
    assert "250 info" in page.text


def test_limit_below_zero_is_refused(hero: Character) -> None:
    with pytest.raises(SettingError, match="most_joints: -1"):
        repair_page(hero, hero, report_of(), title="a", notes=[], most_joints=-1)
