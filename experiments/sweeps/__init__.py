"""Sweeps behind the figures of the five papers: options that conf/config.yaml finds here."""
