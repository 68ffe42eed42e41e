"""Finds the end of a request. `framing.read_framing` reads the head, and `receiving.PartialRequest` collects a body.
Nothing here uses a socket.
"""
