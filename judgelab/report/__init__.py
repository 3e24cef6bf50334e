"""Tables, figures and the HTML page: read from results, never from a model."""
