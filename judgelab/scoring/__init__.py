"""log P(y | x) for all pairs: encode, plan, then rows (oracle), kv (portable) or tree (fast)."""
