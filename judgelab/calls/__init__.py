"""How an endpoint that costs money is called: paced, retried, metered, answers one by one."""
