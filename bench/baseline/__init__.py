"""A plain Django view that redirects, with which redirects are compared."""
