"""The compiled part of the event loop, which is optional: `loading.load` returns it where it was built. `plain_links`
is its module.
"""
