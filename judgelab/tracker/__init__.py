"""Where a finished run is mirrored to."""
