"""The DHP paper: what its rule perturbations do to texts, counted by their own checks."""
