"""From a parsed query to what the engines run."""

from __future__ import annotations

from cepctl.plan.analyze import analyze

__all__ = ["analyze"]
