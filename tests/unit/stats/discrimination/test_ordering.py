"""How often scores order two responses as people do."""

from __future__ import annotations

import numpy as np

from judgelab.stats.discrimination.auc import same_order

NAN = np.nan


def test_rounding_is_no_preference() -> None:
    """Raters who give .7 and .1, and twice .4: means that differ in the last digit."""
    means = np.array([[(0.7 + 0.1) / 2, (0.4 + 0.4) / 2, 0.2]])
    assert means[0, 0] != means[0, 1] or np.nextafter(0.4, 1) > 0.4
    means[0, 0] = np.nextafter(means[0, 1], 1)
    assert same_order([[1.0, 2.0, 0.0]], means).tolist() == [1.0]  # of two pairs, not of three
    assert np.isnan(same_order([[1.0, 2.0]], means[:, :2])).all()
    scores = np.array([[0.1 + 0.2, 0.3]])
    assert same_order(scores, [[1.0, 2.0]]).tolist() == [0.5]


def test_pairs_that_people_tell_apart_count_and_ties_earn_half() -> None:
    found = same_order(
        [[3.0, 2.0, 1.0], [1.0, 1.0, NAN], [1.0, 2.0, 3.0]],
        [[3.0, 3.0, 1.0], [1.0, 2.0, 3.0], [2.0, 2.0, 2.0]],
    )
    np.testing.assert_array_equal(found, [1.0, 0.5, NAN])
