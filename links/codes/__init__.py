"""The codes of links. `format` validates and generates codes. `reserved` lists the words that no new link may have.
`namespace` decides who owns a code on a domain, and how long a deleted link's codes are held for its owner.
"""
