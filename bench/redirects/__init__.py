"""How many redirects a second, how fast, and at what cost: against nginx and against a plain Django view."""
