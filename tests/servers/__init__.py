"""Server processes that tests talk to over loopback."""
