"""Links put into a scene: nodes, skins and weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints
from flexor.convert.links.link_weights import (
    Chain,
    LinkSettings,
    link_chains,
    link_weights,
)
from flexor.convert.links.same_rest import with_same_rest
from flexor.convert.shape.body import Body, Pull, with_pulls
from flexor.convert.shape.facts import BodyFacts, SceneFacts
from flexor.errors import SettingError
from flexor.maths import exact, quaternions, transforms
from flexor.pose.clips.track_values import follow_turns, way_of
from flexor.scene.character.skeleton import Link, Skeleton
from flexor.scene.character.weights import Skin
from flexor.scene.finding import Finding
from flexor.scene.scene import Scene

__all__ = ["LinkSettings", "link_bones", "own_meshes"]

MOST_JOINTS = 65535  # of a skin: joints in weights are uint16
# A joint whose rest is no further than this from where it was bound is taken as bound.
BOUND = 1e-4
FLAT = 1e-18  # of what has no volume


@dataclass(slots=True)
class _Nodes:
    """Link nodes that are to be added, in order, with their names.

    axes: about which joints (nodes) that have twist links twist, in their own frame.
    """

    first: int
    rows: dict[Link, int] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    axes: dict[int, tuple[float, float, float]] = field(default_factory=dict)


def link_bones(
    facts: SceneFacts, settings: Sequence[Mapping[int, LinkSettings]]
) -> tuple[SceneFacts, list[Finding]]:
    """The scene with links at joints of its bodies, and what was odd.

    settings: for each body those of its joints, by row; joints that are not named get
    no links, nor do those with no joint above them, those that have links already and
    links themselves. Link k of n is a new node beside the joint's, at its rest, that
    moves k / (n + 1) of the joint's way, of a joint with twist links without its twist;
    twist link k of n takes (k - 1) / n of the twist. If the joint's node hangs on a
    node that is no joint, that one carries the links too. Old nodes keep their numbers.
    Bodies that hang on the same nodes share the links. Clips stay as they are: links
    follow by themselves, and tracks are made of that when a file is written for others.
    """
    scene, bodies = facts.scene, facts.bodies
    if len(settings) != len(bodies):
        raise SettingError(f"links: settings of {len(settings)} bodies, not all")
    findings: list[Finding] = []
    nodes = _Nodes(len(scene.skeleton))
    skins = list(scene.skins)
    pulls: dict[int, Pull] = {}
    for number, (linked, own) in enumerate(zip(bodies, settings, strict=True)):
        body = linked.body
        wanted = _wanted(scene, body, own, findings)
        if not wanted:
            continue
        free, odd = own_meshes(scene, body)
        findings += odd
        chains, pull = _link_body(linked, free, wanted)
        total = sum(chain.count + chain.twists for chain in chains)
        if len(body.joints) + total > MOST_JOINTS:
            raise SettingError(
                f"links: a skin would have more than {MOST_JOINTS} joints; "
                "ask for fewer links"
            )
        skeleton, world = scene.skeleton, facts.world
        made = [_links_of(nodes, skeleton, body, chain) for chain in chains]
        added = _add_nodes(nodes, skeleton, made)
        binds = [
            _link_binds(skeleton, body, chain, own, world)
            for chain, own in zip(chains, made, strict=True)
        ]
        findings += _fitted(body, chains, binds)
        for row in body.skins:
            skins[row] = _extend_skin(skins[row], chains, added, binds)
        pulls[number] = pull
    if not nodes.rows:
        return facts, findings
    grown = _grown(scene, nodes, skins)
    groups = [own.body.skins for own in bodies]
    grown = with_same_rest(grown, nodes.rows.values(), groups)
    grown = with_pulls(grown, pulls, [own.body for own in bodies])
    return facts.with_scene(grown), findings


def _wanted(
    scene: Scene,
    body: Body,
    settings: Mapping[int, LinkSettings],
    findings: list[Finding],
) -> dict[int, LinkSettings]:
    """The settings of joints that can get links."""
    links = scene.skeleton.links
    linked = {link.joint for link in links.values()}
    twice = np.ones(len(body.joints), bool)
    twice[np.unique(body.joints, return_index=True)[1]] = False
    wanted = {}
    for row, own in sorted(settings.items()):
        if not 0 <= row < len(body.joints):
            last = len(body.joints) - 1
            raise SettingError(f"links: no joint {row} in the body; the last is {last}")
        node = int(body.joints[row])
        is_asked = own.count or own.twists
        if not is_asked or body.parents[row] < 0 or node in links or twice[row]:
            continue
        if node in linked:
            text = "has links already; left as it is"
            findings.append(Finding("info", "joint-linked", body.names[row], text))
            continue
        wanted[row] = own
    return wanted


def own_meshes(scene: Scene, body: Body) -> tuple[Body, list[Finding]]:
    """The body with meshes that other skins use as well marked as rigid."""
    rigid, findings = body.rigid.copy(), []
    for place, start, stop in zip(
        body.places, body.starts, body.starts[1:], strict=False
    ):
        uses = (scene.node_mesh == place[0]) & (scene.node_skin >= 0)
        if set(scene.node_skin[uses].tolist()) - set(body.skins):
            rigid[start:stop] = True
            if place[1] == 0:
                name = scene.meshes[place[0]].name or f"mesh {place[0]}"
                text = "is used with several skins; its weights stay as they are"
                findings.append(Finding("warning", "mesh-shared", name, text))
    return replace(body, rigid=rigid), findings


def _link_body(
    facts: BodyFacts, free: Body, settings: Mapping[int, LinkSettings]
) -> tuple[list[Chain], Pull]:
    """Where a body's links stand, and its pull with them; free: see own_meshes."""
    shape = facts.shape_by_place
    chains = link_chains(free, shape.bones, shape.sections, settings)
    return chains, link_weights(free, shape.bones, chains, shape.surface)


def _links_of(
    nodes: _Nodes, skeleton: Skeleton, body: Body, chain: Chain
) -> list[Link]:
    """The links of a chain, those around its joint first."""
    joint, count, twists = int(body.joints[chain.joint]), chain.count, chain.twists
    parts = [k / (count + 1) for k in range(1, count + 1)]
    if not twists:
        return [Link(joint, part) for part in parts]
    # Bodies on the same joints share their links.
    axis = nodes.axes.setdefault(joint, _axis_in_joint(skeleton, body, chain))
    bends = [Link(joint, part, axis, True) for part in parts]
    return bends + [Link(joint, k / twists, axis) for k in range(twists)]


def _axis_in_joint(
    skeleton: Skeleton, body: Body, chain: Chain
) -> tuple[float, float, float]:
    """The way of a chain's bone, from where it was bound, in the frame of its joint."""
    matrix = body.frames[chain.joint, :, :3]
    if abs(np.linalg.det(matrix)) <= FLAT:
        return 1.0, 0.0, 0.0
    # A joint is scaled before it is turned.
    scale = skeleton.scales[body.joints[chain.joint]].astype(np.float64)
    way = exact.solve(matrix, chain.across[:, None])[:, 0] * scale
    length = exact.norm(way)
    if length <= FLAT:
        return 1.0, 0.0, 0.0
    x, y, z = (way / length).tolist()
    return x, y, z


def _add_nodes(nodes: _Nodes, skeleton: Skeleton, made: list[list[Link]]) -> Ints:
    """Nodes of all links of some chains, those that are there already included."""
    taken = {*skeleton.names, *nodes.names}
    rows = []
    for chain in made:
        for link in chain:
            if link not in nodes.rows:
                word = "link" if link.axis is None or link.is_swing else "twist"
                alike = [other for other in chain if _is_alike(other, link)]
                name = f"{skeleton.names[link.joint]}-{word}{alike.index(link) + 1}"
                stem, number = name, 2
                while name in taken:
                    name, number = f"{stem}-{number}", number + 1
                taken.add(name)
                nodes.rows[link] = nodes.first + len(nodes.names)
                nodes.names.append(name)
            rows.append(nodes.rows[link])
    return np.array(rows, np.int32)


def _is_alike(one: Link, other: Link) -> bool:
    return (one.axis is None or one.is_swing) == (other.axis is None or other.is_swing)


def _link_binds(
    skeleton: Skeleton,
    body: Body,
    chain: Chain,
    links: list[Link],
    world: NDArray[np.float64],
) -> NDArray[np.float64] | None:
    """Bind matrices (n, 3, 4) of a joint's n links; None for the joint's own.

    world: (J, 3, 4), world_from_node at rest.
    Links part the way from the joint's rest, the skin hangs on where the joint was
    bound. If these differ, a link's bind is moved by its part of the way between them:
    then links stand right in both poses and, where the joint turns about one axis, in
    all others.
    """
    joint, parent = int(body.joints[chain.joint]), int(body.joints[chain.parent])
    rest = transforms.compose(
        *(
            part[joint].astype(np.float64)
            for part in (skeleton.translations, skeleton.rotations, skeleton.scales)
        )
    )
    carrier = world[skeleton.parents[joint]]
    try:
        with np.errstate(all="ignore"):
            above = transforms.multiply(transforms.invert(world[parent]), carrier)
            above = transforms.multiply(body.frames[chain.parent], above)
            bound = transforms.multiply(
                transforms.invert(above), body.frames[chain.joint]
            )
            from_rest = transforms.invert(rest)
            mesh = transforms.invert(body.frames[chain.joint])
    except np.linalg.LinAlgError:
        return None
    size = max(float(np.abs(rest).max()), 1e-30)
    if not np.isfinite(bound).all() or np.abs(bound - rest).max() <= BOUND * size:
        return None
    move, turn, scale = _as_signed(*transforms.decompose(bound), skeleton.scales[joint])
    rest_turn = skeleton.rotations[joint].astype(np.float64)
    rest_turn /= np.linalg.norm(rest_turn) or 1
    binds = np.empty((len(links), 3, 4))
    for k, link in enumerate(links):
        u = way_of(link)
        blend = transforms.compose(
            move + (skeleton.translations[joint] - move) * u,
            follow_turns(link, turn, rest_turn),
            scale + (skeleton.scales[joint] - scale) * u,
        )
        binds[k] = transforms.multiply(transforms.multiply(from_rest, blend), mesh)
    return binds if np.isfinite(binds).all() else None


def _as_signed(
    move: NDArray[np.float64],
    turn: NDArray[np.float64],
    scale: NDArray[np.float64],
    like: NDArray[np.floating],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The same transform with scales of the signs of `like`, if that can be.

    Two axes that are mirrored are half a turn about the third; what mirrors along one
    axis can be said to do so along any. A blend of scales of other signs would pass
    through nothing.
    """
    flips = np.where(scale < 0, -1.0, 1.0) * np.where(like < 0, -1.0, 1.0)
    if flips.prod() < 0 or (flips > 0).all():
        return move, turn, scale
    turned = quaternions.to_matrix(turn) * flips
    return move, quaternions.from_matrix(turned), scale * flips


def _fitted(
    body: Body, chains: list[Chain], binds: list[NDArray[np.float64] | None]
) -> list[Finding]:
    """One remark on all joints whose links have binds of their own."""
    pairs = zip(chains, binds, strict=True)
    names = [body.names[chain.joint] for chain, own in pairs if own is not None]
    if not names:
        return []
    some = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    text = (
        f"{len(names)} joints stand at rest otherwise than where they were bound "
        f"({some}); their links were fitted to both poses"
    )
    return [Finding("info", "links-fitted", names[0], text)]


def _extend_skin(
    skin: Skin,
    chains: list[Chain],
    added: Ints,
    binds: list[NDArray[np.float64] | None],
) -> Skin:
    """The skin with the links after its joints."""
    rows = [skin.inverse_binds]
    for chain, own in zip(chains, binds, strict=True):
        count = chain.count + chain.twists
        theirs = skin.inverse_binds[[chain.joint] * count]
        rows.append(theirs if own is None else own.astype(np.float32))
    fitted = any(own is not None for own in binds)
    return replace(
        skin,
        joints=np.concatenate([skin.joints, added]),
        inverse_binds=np.concatenate(rows),
        has_inverse_binds=skin.has_inverse_binds or fitted,
    )


def _grown(scene: Scene, nodes: _Nodes, skins: list[Skin]) -> Scene:
    """The scene with its new nodes and skins."""
    old = scene.skeleton
    joints = np.array([link.joint for link in nodes.rows], np.int32)
    rows = np.concatenate([np.arange(len(old), dtype=np.int32), joints])
    links = {row: link for link, row in nodes.rows.items()}
    skeleton = Skeleton(
        (*old.names, *nodes.names),
        old.parents[rows],
        old.translations[rows],
        old.rotations[rows],
        old.scales[rows],
        old.matrices,
        {**old.links, **links},
    )
    none = np.full(len(joints), -1, np.int32)
    return replace(
        scene,
        skeleton=skeleton,
        node_mesh=np.concatenate([scene.node_mesh, none]),
        node_skin=np.concatenate([scene.node_skin, none]),
        skins=tuple(skins),
    )
