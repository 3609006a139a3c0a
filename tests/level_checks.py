"""What holds for all levels of detail that the converter makes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flexor.convert.levels.body import make_level_body
from flexor.convert.levels.report import LevelReport
from flexor.scene.runtime.levels import Levels, check_levels
from flexor.scene.runtime.node_table import counter_from_masks
from flexor.scene.scene import Scene


def check_made(
    scene: Scene,
    levels: Levels,
    reports: Sequence[LevelReport],
    *,
    is_nested: bool = True,
) -> None:
    """Prefixes, nested sets, weights, masks, and reports that say what there is."""
    check_levels(levels, scene)
    body, _ = make_level_body(scene)
    whole = sum(len(surface.sources) for surface in levels.surfaces)
    assert whole == len(body)
    if is_nested:
        counter_from_masks(levels.masks)  # refuses others
    row_of = {tuple(source): row for row, source in enumerate(body.sources.tolist())}
    for surface in levels.surfaces:
        rows = [row_of[tuple(source)] for source in surface.sources.tolist()]
        assert (body.materials[rows] == surface.material).all()
        for level, faces in enumerate(surface.faces):
            count = int(surface.counts[level])
            # A level uses all of its prefix, and no finer one has more of a coarser's.
            later = [np.unique(own) for own in surface.faces[level:]]
            used = np.unique(np.concatenate(later))
            np.testing.assert_array_equal(used, np.arange(count))
            assert (np.diff(np.sort(faces, axis=1), axis=1) > 0).all() or level == 0
            sums = surface.weights[level].sum(1, dtype=np.float64)
            np.testing.assert_allclose(sums, 1, atol=1e-5)
    assert len(reports) == len(levels)
    for level, report in enumerate(reports):
        sizes = report.nodes, report.vertices, report.triangles
        assert sizes == levels.totals(level)
        if level:
            before = reports[level - 1]
            assert report.triangles <= before.triangles
            assert report.vertices <= before.vertices
            assert report.distance > before.distance
