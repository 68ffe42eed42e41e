"""Rate, latency and cost of redirects, compared with nginx and a plain Django view."""
