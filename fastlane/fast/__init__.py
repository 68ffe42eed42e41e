"""The answers of the event loop from prepared bytes. `lane.FastLane` is the entry point.

`request_head` parses a request, and `prepared` has what a link answers. `visitor_rules` evaluates what depends on the
visitor, `answers` has everything but redirects, and `counts` adds up the metrics.
"""
