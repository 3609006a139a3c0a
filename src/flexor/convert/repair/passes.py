"""The table of repair passes.

`flexor.repair`, the options of `flexor repair` and its settings file are made from it.
A new pass is one file with a function (see BodyTask and SceneTask) and one row here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypedDict, get_args, get_type_hints

from flexor.convert.repair.rows import Bounds, Option, Pass, Setting, Values

__all__ = ["TABLE", "RepairWords", "Table", "read_rows"]

INF = float("inf")


class RepairWords(TypedDict, total=False):
    """The table: a row for each keyword of `flexor.repair`, in the order of the passes.

    A row has the type of the keyword, its setting and, if it asks for a pass, that.
    """

    regenerate: Annotated[
        bool,
        Setting(
            bool,
            False,
            "New weights, from shape and joints alone.",
            option=Option("--regenerate"),
            word="regenerate",
        ),
        Pass(
            "regenerate",
            "weights",
            "flexor.convert.weights.regenerate_weights:regenerate_pass",
        ),
    ]
    rogues: Annotated[
        bool,
        Setting(
            bool,
            False,
            "Free skin that hangs on a bone it is cut off from.",
            option=Option("--rogues"),
            word="rogues",
        ),
        Pass(
            "rogues",
            "weights",
            "flexor.convert.weights.mend_rogues:rogues_pass",
            more=(
                Setting(
                    float,
                    0.3,
                    "Patches that fit their bone this well are its other side and left "
                    "alone; 0: none are.",
                    unit="of what the bone's surest point fits",
                    bounds=Bounds(0, 1, "0 to 1"),
                    word="spare",
                    name="spare",
                ),
            ),
        ),
    ]
    smooth: Annotated[
        bool | int,
        Setting(
            int,
            False,
            "Soften weights that change too fast; in at most so many steps (100).",
            unit="steps",
            bounds=Bounds(0, INF, "steps, 0 or more"),
            least=1,
            usual=100,
            option=Option("--smooth", low=1, metavar="[STEPS]", is_bare=True),
            word="smooth.steps",
        ),
        Pass(
            "smooth",
            "weights",
            "flexor.convert.weights.smooth_weights:smooth_pass",
            more=(
                Setting(
                    float,
                    2.0,
                    "A weight goes from 0 to 1 over this much of the body.",
                    unit="radii of the body there",
                    bounds=Bounds(0, INF, "a number above 0", is_open=True),
                    word="smooth.width",
                    name="smooth_width",
                ),
                Setting(
                    float,
                    0.25,
                    "Ends earlier, when no weight differs by more than it may and this "
                    "part of that.",
                    unit="of what a weight may differ by",
                    bounds=Bounds(0, INF, "0 or more"),
                    word="smooth.enough",
                    name="smooth_enough",
                ),
            ),
            is_on=lambda values: values["smooth"] is not False,
            told="at most {smooth} steps, over {smooth_width:g} radii",
        ),
    ]
    ease: Annotated[
        bool,
        Setting(
            bool,
            False,
            "Change weights where the skin folds, tears or is squeezed as joints turn.",
            option=Option("--ease"),
            word="ease",
        ),
        Pass(
            "ease",
            "weights",
            "flexor.convert.weights.ease_weights:ease_pass",
        ),
    ]
    mirror: Annotated[
        Literal["left", "right"] | None,
        Setting(
            str,
            None,
            "Give the other side the weights of this: left or right.",
            choices=("left", "right"),
            option=Option("--mirror"),
            word="mirror",
        ),
        Pass(
            "mirror",
            "weights",
            "flexor.convert.weights.mirror_weights:mirror_pass",
            told="{mirror} to the other side",
        ),
    ]
    links: Annotated[
        int,
        Setting(
            int,
            0,
            "Small joints at each joint that share its turn, so that it keeps its "
            "volume; 3 do. Joints that look no better with them go without.",
            unit="links",
            bounds=Bounds(0, 64, "0 to 64"),
            usual=3,
            option=Option("--links", low=0, high=64),
            word="links.count",
        ),
        Pass(
            "links",
            "links",
            "flexor.convert.links.place_links:links_pass",
            more=(
                Setting(
                    float,
                    None,
                    "How far links reach along the bones; left out: what looks best.",
                    unit="times the usual length",
                    bounds=Bounds(0, 1e6, "more than 0", is_open=True),
                    word="links.length",
                    name="links_length",
                ),
                Setting(
                    float,
                    None,
                    "How much of them the parent keeps where the surface lies across "
                    "the bone; left out: what looks best.",
                    unit="0 for nothing to 1 for all",
                    bounds=Bounds(0, 1, "0 to 1"),
                    word="links.fade",
                    name="links_fade",
                ),
                Setting(
                    dict,
                    (),
                    "Other links for joints whose names fit a pattern; the last that "
                    "fits counts.",
                    word="joint",
                    name="rules",
                ),
            ),
            is_on=lambda values: (
                values["links"] > 0
                or values["twists"] > 0
                or any(rule.count or rule.twists for rule in values["rules"])
            ),
            told="{links} a joint, at most {twists} along its bone for its twist",
        ),
    ]
    twists: Annotated[
        int,
        Setting(
            int,
            0,
            "Links along each bone that share its joint's twist, as a forearm does; at "
            "most so many, 6 do.",
            unit="links",
            bounds=Bounds(0, 64, "0 to 64"),
            option=Option("--twists", low=0, high=64, after="links"),
            word="links.twists",
        ),
    ]
    always: Annotated[
        bool,
        Setting(
            bool,
            False,
            "Links also at joints that are worse with them.",
            word="links.always",
        ),
    ]
    prune: Annotated[
        float,
        Setting(
            float,
            0.0,
            "Drop weights below this.",
            bounds=Bounds(0, 1, "0 to 1"),
            option=Option("--prune", low=0, high=1),
            word="prune",
        ),
        Pass(
            "prune",
            "limits",
            "flexor.convert.weights.edit_weights:prune_pass",
            told="weights below {prune:g}",
        ),
    ]
    max_influences: Annotated[
        int | None,
        Setting(
            int,
            None,
            "Joints a vertex, the largest weights; 0: any number. Usually as many as "
            "the file has, but at least 4.",
            unit="joints",
            bounds=Bounds(0, INF, "0 or more"),
            option=Option("--max-influences", low=0, after="twists"),
            word="max_influences",
        ),
        Pass(
            "limit",
            "limits",
            "flexor.convert.weights.edit_weights:limit_pass",
            is_usual=True,
        ),
    ]
    palette: Annotated[
        int,
        Setting(
            int,
            0,
            "Split surfaces so that each uses so many joints.",
            unit="joints",
            bounds=Bounds(0, INF, "0 or more"),
            option=Option("--palette", low=1),
            word="palette",
        ),
        Pass(
            "palette",
            "surfaces",
            "flexor.convert.weights.split_palettes:palette_pass",
        ),
    ]
    joints: Annotated[
        str | Sequence[str],
        Setting(
            list,
            (),
            "Only joints whose names fit one of these patterns, such as '*Arm*'.",
            option=Option(
                "--joints",
                text="Only joints of this name, such as '*Arm*'; may be repeated.",
                after="twists",
            ),
            word="joints",
        ),
    ]
    rigid: Annotated[
        str | Sequence[str],
        Setting(
            list,
            (),
            "Meshes whose names fit one of these patterns are neither smoothed nor "
            "linked.",
            word="rigid",
        ),
    ]


@dataclass(frozen=True, slots=True)
class Table:
    """The rows, in order.

    types: of each keyword; settings: all, by name, those of the settings file alone
    after the keyword of their pass; passes: by the keyword that asks for them.
    """

    types: Mapping[str, Any]
    settings: Mapping[str, Setting]
    passes: Mapping[str, Pass]

    def is_on(self, keyword: str, values: Values) -> bool:
        """Whether the pass of a keyword is asked for."""
        asked = self.passes[keyword].is_on
        return bool(values[keyword]) if asked is None else asked(values)


def read_rows(words: type) -> Table:
    """The table that the annotations of a class make."""
    types, settings, passes = {}, {}, {}
    for name, hint in get_type_hints(words, include_extras=True).items():
        types[name], row, *rest = get_args(hint)
        settings[name] = replace(row, name=name)
        for own in rest:
            passes[name] = own
            settings |= {setting.name: setting for setting in own.more}
    return Table(types, settings, passes)


TABLE = read_rows(RepairWords)
