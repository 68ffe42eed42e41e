"""Writes of links and their codes, as SQL in the caller's transaction.

`columns` is the table of a link's columns, from which every statement is built. `insert.insert_link` inserts one link;
`insert_many.insert_links` inserts `drafts.Draft` objects with COPY. Both claim codes with `code_claims` and reject
destinations with `refused_destinations`. `deletion` deletes links, and `quotas` charges new links to the owner's plan.
"""
