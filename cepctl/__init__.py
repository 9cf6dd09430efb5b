"""cepctl: pattern matching over logs whose timestamps cannot be trusted to the tick.

    ingest     logs -> a dataset of events
    match      a query and events -> its probable matches
    explain    a query -> how it would run
    export_xes events -> an event log of process mining
    follows    events -> which types directly follow which in a case
    calibrate  a query, or pairs, and events with true times -> whether what is stated is right
    learn      events with true times -> a law of the order in which they usually happen
    audit      logs -> what their times are worth, and what settles what they leave open
    inspect    events -> what is in them, and what their times can be trusted for
    sketch     datasets -> summaries that tell where a pattern cannot occur
    show       a query, events and a match -> when its events can have happened, and why it has its confidence
    why_not    a query and events -> what stopped partial matches
    report     a query and events -> its matches as a page for a browser
    probe      a query and sketches -> where it can occur
    assign     a dataset -> one with other uncertainty intervals
    derive     a query and events -> events that last, made of runs of samples

These are imported when they are first asked for, so that `import cepctl` costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes longer to import than all else here
if TYPE_CHECKING:
    from cepctl.calibration.result import Calibration
    from cepctl.errors import CepctlError
    from cepctl.inspection.follows.graph import FollowsGraph
    from cepctl.laws.learning.learned import Learned
    from cepctl.library.assign import assign
    from cepctl.library.audit import Audited, audit
    from cepctl.library.calibrate import calibrate
    from cepctl.library.derive import derive
    from cepctl.library.explain import Explanation, explain
    from cepctl.library.export import Exported, export_xes
    from cepctl.library.follows import follows
    from cepctl.library.ingest import Ingested, ingest
    from cepctl.library.inspect import Inspected, inspect
    from cepctl.library.learn import learn
    from cepctl.library.looking import Reasons, Shown, report, show, why_not
    from cepctl.library.match import match
    from cepctl.library.matches import Matches
    from cepctl.library.probe import Probe, probe
    from cepctl.library.sketch import Sketched, sketch
    from cepctl.library.summary import MatchSummary
    from cepctl.notices import CepctlWarning

__version__ = "0.1.0"
__all__ = [
    "Audited",
    "Calibration",
    "CepctlError",
    "CepctlWarning",
    "Explanation",
    "Exported",
    "FollowsGraph",
    "Ingested",
    "Inspected",
    "Learned",
    "MatchSummary",
    "Matches",
    "Probe",
    "Reasons",
    "Shown",
    "Sketched",
    "__version__",
    "assign",
    "audit",
    "calibrate",
    "derive",
    "explain",
    "export_xes",
    "follows",
    "ingest",
    "inspect",
    "learn",
    "match",
    "probe",
    "report",
    "show",
    "sketch",
    "why_not",
]
_HOMES = {
    "Audited": "library.audit",
    "Calibration": "calibration.result",
    "CepctlError": "errors",
    "CepctlWarning": "notices",
    "Explanation": "library.explain",
    "Exported": "library.export",
    "FollowsGraph": "inspection.follows.graph",
    "Ingested": "library.ingest",
    "Inspected": "library.inspect",
    "Learned": "laws.learning.learned",
    "MatchSummary": "library.summary",
    "Probe": "library.probe",
    "Reasons": "library.looking",
    "Shown": "library.looking",
    "Sketched": "library.sketch",
    "Matches": "library.matches",
    "assign": "library.assign",
    "audit": "library.audit",
    "calibrate": "library.calibrate",
    "derive": "library.derive",
    "explain": "library.explain",
    "export_xes": "library.export",
    "follows": "library.follows",
    "ingest": "library.ingest",
    "inspect": "library.inspect",
    "learn": "library.learn",
    "match": "library.match",
    "probe": "library.probe",
    "report": "library.looking",
    "show": "library.looking",
    "sketch": "library.sketch",
    "why_not": "library.looking",
}


if not TYPE_CHECKING:  # for them only the names above are there

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            calls = ", ".join(each for each in __all__ if each.islower() and each[0] != "_")
            raise AttributeError(f"module 'cepctl' has no attribute '{name}'; its calls are {calls}")
        from importlib import import_module

        value = getattr(import_module(f"cepctl.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
