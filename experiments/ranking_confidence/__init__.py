"""The ranking-confidence paper: its claims, its tables and its calibration, from public data."""
