"""The GEM paper: its tables from what it prints and from the reviews its authors released."""
