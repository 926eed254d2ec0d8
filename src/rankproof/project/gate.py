"""The part of the project file that says when quality counts as worse."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator


class Drop(BaseModel):
    """How far a measure may fall below the baseline: by so much, or by such a share of it."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    absolute: float | None = Field(default=None, ge=0, description="By so much.")
    relative: float | None = Field(default=None, ge=0, le=1, description="By such a share of the baseline's value.")

    @model_validator(mode="after")
    def _one(self) -> Drop:
        if (self.absolute is None) == (self.relative is None):
            raise ValueError("give `absolute` or `relative`, one of the two")
        return self


def _drop(value: Any) -> Any:
    """A bare number is absolute."""
    return {"absolute": value} if isinstance(value, int | float) and not isinstance(value, bool) else value


class GateGroups(BaseModel):
    """How groups are looked at."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    min_size: int = Field(default=5, ge=1, description="Groups with fewer queries are shown and not judged.")


class Gate(BaseModel):
    """When quality counts as worse."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    floors: dict[str, float] = Field(default_factory=dict, description="Measure → the least value that passes.")
    max_drop: dict[str, Annotated[Drop, BeforeValidator(_drop)]] = Field(
        default_factory=dict, description="Measure → how far it may fall below the baseline."
    )
    margin: float | None = Field(
        default=None, gt=0, description="The least difference that matters, for every measure."
    )
    groups: GateGroups = Field(default_factory=GateGroups, description="How groups are looked at.")
    coverage: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="The share of queries that must have been measured for a verdict to be given.",
    )
    latency: float | None = Field(
        default=None,
        gt=0,
        description="The most seconds that nineteen of twenty queries may take, where a stage times each query.",
    )
