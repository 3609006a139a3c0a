"""The page of a repair: whole, self-contained, with pictures of before and after."""

from __future__ import annotations

import base64
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.api.repair.joint_pictures import SHOTS, draw_joints
from flexor.api.repair.joint_views import joint_views, turned_pose
from flexor.api.repair.page import SIZE, repair_page
from flexor.convert.links.link_bones import LinkSettings, link_bones
from flexor.convert.repair.report import JointChange, RepairReport, report_repair
from flexor.convert.shape.body import gather_bodies
from flexor.convert.shape.facts import SceneFacts
from flexor.convert.shape.measure_joints import JointMeasure
from flexor.errors import SettingError
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.finding import Finding
from flexor.scene.scene import Scene
from tests.scenes import plain_scene, random_skeleton

VOID = {"meta", "img", "br", "link"}
EACH = 2 * len(SHOTS)  # pictures of a joint

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
        if self.open and self.open[-1] != "style":
            self.text += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def hero() -> Character:
    return flexor.samples.mannequin()


@pytest.fixture(scope="module")
def linked(hero: Character) -> Character:
    """The mannequin with links at both knees."""
    bodies = gather_bodies(hero.scene)
    knees = [hero.skeleton.index(name) for name in ("l-knee", "r-knee")]
    settings = [
        {
            row: LinkSettings(count=3)
            for row, node in enumerate(body.joints.tolist())
            if node in knees
        }
        for body in bodies
    ]
    linked, _ = link_bones(SceneFacts(hero.scene), settings)
    return Character(linked.scene)


def compared(before: Character, after: Character) -> RepairReport:
    pair = SceneFacts(before.scene), SceneFacts(after.scene)
    return report_repair(*pair, ("links",), (), has_measures=False)


def report_of(joints: tuple[JointChange, ...] = (), **more: object) -> RepairReport:
    plain = RepairReport(("smooth",), (), joints, 3, 12, 4, 4)
    return replace(plain, **more)  # type: ignore[arg-type]


def page_of(
    before: Character, after: Character, report: RepairReport, most: int = 24
) -> Page:
    data = repair_page(
        before,
        after,
        report,
        title="hero.glb",
        notes=[("links", "3")],
        most_joints=most,
    )
    return Page(data)


def change(node: int, name: str, **more: object) -> JointChange:
    return replace(JointChange(node, name, 5, 0.5, 0, None, None), **more)  # type: ignore[arg-type]


@pytest.mark.jit
def test_joints_that_changed_are_shown_before_and_after(
    hero: Character, linked: Character
) -> None:
    report = compared(hero, linked)
    page = page_of(hero, linked, report)
    changed = [one for one in report.joints if one.vertices or one.links]
    sections = [one["id"] for one in page.of("section")]
    assert {f"joint-{hero.skeleton.index(name)}" for name in ("l-knee", "r-knee")} <= {
        *sections
    }
    assert len(sections) == min(len(changed), 24)
    images = page.of("img")
    assert len(images) == EACH * len(sections)
    alts = [str(image["alt"]) for image in images]
    assert sum(alt.endswith(", before") for alt in alts) == len(images) // 2
    assert sum(alt.endswith(", after") for alt in alts) == len(images) // 2
    assert "links added6" in page.text.replace("\n", "")


@pytest.mark.jit
def test_page_needs_nothing_else(hero: Character, linked: Character) -> None:
    from PIL import Image

    data = repair_page(
        hero, linked, compared(hero, linked), title="a", notes=[], most_joints=1
    )
    text = data.decode("utf-8")
    assert not re.search(r"https?://|@import|url\(|<script|<link|<iframe", text)
    page = Page(data)
    for _, attributes in page.tags:
        for name in ("src", "href", "srcset", "data"):
            value = attributes.get(name)
            assert value is None or value.startswith(("data:image/", "#joint-"))
    for image in page.of("img"):
        head, _, code = str(image["src"]).partition(",")
        assert head == "data:image/webp;base64"
        with Image.open(BytesIO(base64.b64decode(code, validate=True))) as picture:
            assert picture.size == SIZE
    ids = {attributes.get("id") for _, attributes in page.tags}
    assert all(str(link["href"])[1:] in ids for link in page.of("a"))


@pytest.mark.jit
def test_same_input_gives_same_bytes(hero: Character, linked: Character) -> None:
    report = compared(hero, linked)
    pages = [
        repair_page(one, linked, report, title="a", notes=[], most_joints=2)
        for one in (hero, Character(hero.scene))
    ]
    assert pages[0] == pages[1]


@pytest.mark.jit
def test_limit_leaves_out_what_changed_least(hero: Character) -> None:
    names = ("l-knee", "l-elbow", "neck")
    rows = [
        change(hero.skeleton.index(name), name, vertices=10 * (place + 1))
        for place, name in enumerate(names)
    ]
    count = 0

    def advance() -> None:
        nonlocal count
        count += 1

    data = repair_page(
        hero,
        hero,
        report_of(tuple(rows)),
        title="a",
        notes=[],
        most_joints=2,
        advance=advance,
    )
    page = Page(data)
    shown = [f"joint-{hero.skeleton.index(name)}" for name in ("neck", "l-elbow")]
    assert [one["id"] for one in page.of("section")] == shown
    assert "2 of 3 changed joints" in page.text
    assert "1 is left out" in page.text
    assert count == 2 * EACH


@pytest.mark.jit
def test_joints_that_bend_nothing_are_named(hero: Character) -> None:
    rows = [change(hero.skeleton.index(name), name) for name in ("hips", "neck")]
    page = page_of(hero, hero, report_of(tuple(rows)))
    assert len(page.of("section")) == 1
    assert "Of 2 changed joints 1 is left out" in page.text
    none = page_of(hero, hero, report_of(tuple(rows)), most=0)
    assert not none.of("img")
    assert "No pictures were asked for" in none.text


@pytest.mark.jit
def test_nothing_changed(hero: Character) -> None:
    page = page_of(hero, hero, compared(hero, hero))
    assert not page.of("img")
    assert "No joint changed." in page.text
    assert f"{len(hero.scene.skins[0].joints)} did not change" in page.text


@pytest.mark.jit
def test_before_and_after_of_one_character_are_the_same_pictures(
    hero: Character,
) -> None:
    node = hero.skeleton.index("l-elbow")
    (pictures,) = draw_joints(hero, hero, [node], (64, 48), 5)
    for old, new in zip(pictures.before, pictures.after, strict=True):
        np.testing.assert_array_equal(old, new)
        assert (old[..., 3] == 255).mean() > 0.1  # something is there
        assert (old[..., 3] == 0).mean() > 0.1  # and not everywhere
    distinct = {picture.tobytes() for picture in pictures.before}
    assert len(distinct) == len(SHOTS)


@pytest.mark.jit
def test_weights_of_links_are_shown_with_those_of_their_joint(
    hero: Character, linked: Character
) -> None:
    node = hero.skeleton.index("l-knee")
    (pictures,) = draw_joints(hero, linked, [node], (64, 48), 1)
    warm = [
        (picture[-1, :, 0].astype(int) > picture[-1, :, 2]) & (picture[-1, :, 3] > 200)
        for picture in (pictures.before[-1], pictures.after[-1])
    ]
    assert warm[0].any()
    assert warm[1].any()


def test_texts_are_escaped() -> None:
    hero = Character(plain_scene(random_skeleton(np.random.default_rng(1), 3)))
    bad = "<b>&\"'\x00\ud800<script>"
    finding = Finding("warning", bad, bad, bad)
    report = report_of((change(1, bad),), findings=(finding,), passes=(bad,))
    data = repair_page(hero, hero, report, title=bad, notes=[(bad, bad)])
    page = Page(data)
    assert not page.of("script")
    assert not [name for name, _ in page.tags if name == "b"][1:]  # the finding's own
    assert page.text.count("<b>&\"'") == 9
    assert "\x00" not in page.text


def test_character_without_meshes_still_has_a_page() -> None:
    hero = Character(plain_scene(random_skeleton(np.random.default_rng(2), 4)))
    page = page_of(hero, hero, report_of((change(1, "a"), change(2, "b"))))
    assert not page.of("img")
    assert "No pictures" in page.text
    empty = page_of(hero, hero, report_of(vertex_count=0, vertices=0))
    assert "No joint changed." in empty.text


def test_measures_are_marked_better_or_worse() -> None:
    hero = Character(plain_scene(random_skeleton(np.random.default_rng(3), 3)))
    old = JointMeasure(0, 1, "a", 0.6, 0.5, 0.9, 0.4, 0.1)
    new = JointMeasure(0, 1, "a", 0.9, 0.4, 0.9, 0.401, None)
    report = report_of((change(1, "a", before=old, after=new), change(2, "b")))
    data = repair_page(hero, hero, report, title="a", notes=[]).decode("utf-8")
    cells = re.findall(r"<td>(.*?)</td>", data.split("<tbody>")[1])
    assert [re.sub(r"<[^>]*>|\u202f", "", cell) for cell in cells[3:7]] == [
        "60% \u2192 90% \u25b2",
        "50% \u2192 40% \u25bc",
        "40% \u2192 40%",
        "10% \u2192 \u2013",
    ]
    assert 'class="better"' in cells[3]
    assert 'class="worse"' in cells[4]
    assert cells[10:] == ["\u2013"] * 4  # the other joint was not measured


def test_many_findings_and_joints_are_cut_short() -> None:
    hero = Character(plain_scene(random_skeleton(np.random.default_rng(4), 3)))
    findings = tuple(Finding("info", "odd", f"n{i}", "text") for i in range(250))
    joints = tuple(change(i, f"j{i}") for i in range(50))
    page = page_of(hero, hero, report_of(joints, findings=findings))
    assert "and 50 more" in page.text
    assert "20 more that changed less" in page.text
    assert "250 info" in page.text


def test_limit_below_zero_is_refused(hero: Character) -> None:
    with pytest.raises(SettingError, match="most_joints: -1"):
        repair_page(hero, hero, report_of(), title="a", notes=[], most_joints=-1)


@pytest.mark.jit
def test_cameras_look_along_the_bend(hero: Character) -> None:
    nodes = [hero.skeleton.index(name) for name in ("l-knee", "l-index1", "hips")]
    views = joint_views(hero, nodes, (260, 220), 5)
    assert [view.node for view in views] == nodes[:2]  # nothing is above the hips
    world = hero.pose().world.astype(np.float64)
    for view in views:
        place = world[view.node, :, 3]
        np.testing.assert_allclose(view.camera.target, place, atol=1e-6)
        axis = world[view.node, :, :3] @ view.bend
        back = view.camera.axes()[2]
        assert abs(back @ axis) / np.linalg.norm(axis) > 0.95
        assert abs(np.dot(view.bend, view.twist)) < 1e-5
        assert view.node in view.kept
    heights = [
        2
        * math.tan(view.camera.fov / 2)
        * math.dist(view.camera.eye, view.camera.target)
        for view in views
    ]
    assert heights[1] < heights[0]  # a finger is seen from nearer
    assert hero.skeleton.index("r-knee") not in views[0].kept


@pytest.mark.jit
def test_knees_bend_as_in_clips(hero: Character) -> None:
    node = hero.skeleton.index("l-knee")
    (view,) = joint_views(hero, [node], (260, 220), 1)
    pose = turned_pose(hero, node, view.bend, math.pi / 2)
    ankle = hero.skeleton.index("l-ankle")
    way = pose.world[ankle, :, 3] - hero.pose().world[ankle, :, 3]
    assert way[2] < -0.2  # metres, to the back
    twisted = turned_pose(hero, node, view.twist, math.pi)
    moved = twisted.world[:, :, 3] - hero.pose().world[:, :, 3]
    assert np.abs(moved[hero.skeleton.parents[ankle]]).max() < 1e-3


@pytest.mark.jit
def test_turned_like_measured(hero: Character) -> None:
    """A joint with a scale, whose rest is not of unit length, turns about its axis."""
    old = hero.skeleton
    node = old.index("l-knee")
    rotations, scales = old.rotations.copy(), old.scales.copy()
    rotations[node] *= 1.005
    scales[node] = 0.5
    skeleton = Skeleton(
        old.names, old.parents, old.translations.copy(), rotations, scales
    )
    scene: Scene = replace(hero.scene, skeleton=skeleton)
    other = Character(scene)
    (view,) = joint_views(other, [node], (260, 220), 1)
    pose = turned_pose(other, node, view.twist, math.pi / 2)
    axis = other.pose().world[node, :, :3] @ view.twist
    after = pose.world[node, :, :3] @ view.twist
    np.testing.assert_allclose(after, axis, atol=2e-3)
