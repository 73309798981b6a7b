"""Check data frames, logs and live events against temporal requirements.

>>> import tracewise as tw
>>> report = tw.check("G (order -> F pay)", [{"event": "order"}, {"event": "pay"}])
>>> report.verdict
'satisfied'
"""

from ._native import (
    Error,
    EvalReport,
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
    query,
    robust,
)

__all__ = [
    "Error",
    "EvalReport",
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
    "query",
    "robust",
]
