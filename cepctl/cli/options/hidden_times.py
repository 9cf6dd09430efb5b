"""How the true times of events are hidden, and of which keys: what `calibrate` and `learn` ask alike."""

from __future__ import annotations

from dataclasses import dataclass

from cepctl.library.true_events import TruthAsked


@dataclass(frozen=True)
class HiddenTimes:
    """Options of these names; one of `coarsen`, `jitter`, `clock` and `model` is not None."""

    coarsen: str | None
    jitter: str | None
    clock: str | None
    model: str | None
    by: str | None
    step: str
    part: str | None
    seed: int
    no_given: bool

    def asked(self) -> TruthAsked:
        """What they ask, of pairs of events."""
        return TruthAsked(
            text=None,
            blur=(self.coarsen, self.jitter, self.clock, self.model),
            by=self.by,
            steps=tuple(each.strip() for each in self.step.split(",")),
            part=self.part,
            seed=self.seed,
            no_given=self.no_given,
        )
