"""The URL shortener in a terminal. Start reading at `main.py`.

`client` is the hand-written part of the Python library: a link to its folder, which a build follows.
"""

__version__ = "1.0.0"
