"""Numbers of settings with their bounds, which ``config.build`` checks and names to the user."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

Count = Annotated[int, Field(ge=1)]
Natural = Annotated[int, Field(ge=0)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]
Correlation = Annotated[float, Field(gt=0, le=1)]
ConfidenceLevel = Annotated[float, Field(gt=0.5, lt=1)]
