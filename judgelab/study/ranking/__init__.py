"""The parts of the studies that ask how sure a ranking is."""
