"""Check data frames, logs and live events against temporal requirements.

>>> import tracewise as tw
>>> report = tw.check("G (order -> F pay)", [{"event": "order"}, {"event": "pay"}])
>>> report.verdict
'satisfied'
"""

from ._native import (
    Answer,
    Error,
    EvalReport,
    Model,
    Monitor,
    Pending,
    Property,
    Query,
    QueryReport,
    Report,
    RobustReport,
    Robustness,
    Spec,
    Table,
    Verdict,
    Violation,
    __version__,
    check,
    eval,
    inspect,
    merge,
    query,
    races,
    robust,
    slice,
    streams,
    templates,
)

__all__ = [
    "Answer",
    "Error",
    "EvalReport",
    "Model",
    "Monitor",
    "Pending",
    "Property",
    "Query",
    "QueryReport",
    "Report",
    "RobustReport",
    "Robustness",
    "Spec",
    "Table",
    "Verdict",
    "Violation",
    "__version__",
    "check",
    "eval",
    "inspect",
    "merge",
    "query",
    "races",
    "robust",
    "slice",
    "streams",
    "templates",
]
