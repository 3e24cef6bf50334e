"""Texts that people, and perhaps metrics, have scored: how such data become a panel."""
