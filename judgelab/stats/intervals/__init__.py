"""Estimates with their intervals: resampled items, ranks, sign flips, calibration."""
