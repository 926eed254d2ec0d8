"""Where the judged documents stand in a run, found from a table, from dicts or from a file as it streams by."""

from rankproof.scoring.placement.facts import Order, Placement, Prepared

__all__ = ["Order", "Placement", "Prepared"]
