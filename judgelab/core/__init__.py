"""Values that packages share, and their interfaces: panels, scores, results, LMs, prompts."""
