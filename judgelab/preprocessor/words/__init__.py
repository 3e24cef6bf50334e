"""Words by which a rule tells what a sentence of a review is for."""
