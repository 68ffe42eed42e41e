"""The compiled part of the event loop, which is optional: `event_loop.load` returns it where `build` has built it.

`plain_links` is its module. How to change it is in README.md.
"""
