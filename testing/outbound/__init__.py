"""Hosts that the service calls: TCP servers with any manners, and certificates of an authority of the test's own."""
