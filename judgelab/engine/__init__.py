"""One run: its parts, its models at work, what it would cost, how it is carried out."""
