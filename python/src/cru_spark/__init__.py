"""Sessions of coding agents as tables: Spark distributes, `cru rows` does the work."""

from cru_spark.job import Result, run
from cru_spark.pipe import CruError, through

__all__ = ["CruError", "Result", "run", "through"]
