"""The most probable factors: they maximise ln P of the true orders less (ln factor)^2 / (2 sigma^2) each.

SciPy's L-BFGS-B climbs to a summit.  A concave sum has one; of several the highest that is reached counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec

import numpy as np

from cepctl.arrays import Reals
from cepctl.errors import UsageError

_STEPS = 500


def require_scipy() -> None:
    """Raise UsageError where SciPy is not installed, which nothing but learning needs."""
    if find_spec("scipy") is None:
        raise UsageError("learn needs SciPy, which is not installed; pip install 'cepctl[learn]'")


Sum = Callable[[Reals], tuple[float, Reals]]


def fitted(summed: Sum, starts: Sequence[Reals], sigma: float, share: float) -> Reals:
    """The logarithms of the factors under a normal prior with mean 0 and deviation `sigma`, shape of a start.

    `summed`: the sum over the keys, and its gradient.  One climb begins at each of the `starts`; a step that
    gains less than this `share` of all ends it.

    Examples
    --------
    Eight of ten: the maximum of 8 t - 10 ln(1 + e^t) - t^2 / 2.

    >>> found = fitted(lambda t: (8 * t[0] - 10 * np.log1p(np.exp(t[0])), 8 - 10 / (1 + np.exp(-t))),
    ...                [np.zeros(1)], 1.0, 1e-9)
    >>> round(float(found[0]), 4)
    0.8969
    """
    if not len(starts[0]):
        return starts[0]
    require_scipy()
    # SciPy takes a third of a second to import, and nothing else needs it.
    from scipy.optimize import minimize

    def loss(vector: Reals) -> tuple[float, Reals]:
        value, gradient = summed(vector)
        return float(vector @ vector) / (2 * sigma**2) - value, vector / sigma**2 - gradient

    options = {"maxiter": _STEPS, "ftol": share, "gtol": 1e-4}
    climbs = [minimize(loss, start, jac=True, method="L-BFGS-B", options=options) for start in starts]
    highest: Reals = min(climbs, key=lambda climb: float(climb.fun)).x
    return np.asarray(highest)
