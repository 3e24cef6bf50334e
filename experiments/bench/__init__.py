"""Benchmarks: each prints a table, writes JSON, and checks that both sides agree."""
