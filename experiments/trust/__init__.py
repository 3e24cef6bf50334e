"""What ``study=audit`` prints, tried where the truth is known: real judges, resampled labels."""
