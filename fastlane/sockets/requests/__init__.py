"""Finds the end of a request. `framing.read_framing` reads the head, and `receiving.PartialRequest` collects a body.
`request_target` rejects a missing or contradictory host. Nothing here uses a socket.
"""
