"""Commands that recompute published tables and measure judgelab; not part of the package."""
