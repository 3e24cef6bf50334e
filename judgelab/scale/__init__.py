"""Where the model calls of a run are answered: in this process, in several, on a cluster."""
