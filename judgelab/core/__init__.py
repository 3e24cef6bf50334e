"""Values that cross every seam and the protocols at them: panels, scores, results, LMs, prompts."""
