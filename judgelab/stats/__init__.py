"""Statistics on arrays: no texts, no models, no files, no randomness but a given seed."""
