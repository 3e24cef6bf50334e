"""The TVD-MI paper: its tables from the data its authors released."""
