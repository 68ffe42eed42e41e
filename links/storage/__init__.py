"""Writes of links, as SQL in the caller's transaction. `links.code_claims` claims their codes.

`columns` is the table of a link's columns, from which every statement is built. `insert` inserts one link or many
`Draft` objects, and raises the clicks that imports brought. `update` changes a link, `deletion` deletes links and
restores one. `quotas` charges new links to the owner's plan, `refused_destinations` checks URLs, and `unique_values`
refuses values that another link has.
"""
