"""Where items and responses come from: hub, local files, released data, shipped samples."""
