"""Writes of links and their codes, as SQL in the caller's transaction.

`columns` is the table of a link's columns, from which every statement is built. `insert.insert_link` inserts one link;
`insert_many.insert_links` inserts `drafts.Draft` objects with COPY. Both claim codes with `code_claims` and reject
destinations with `refused_destinations`. `quotas` charges new links to the owner's plan.

`update` changes a link, and `route_changes` finds the columns that change where it leads. `deletion` deletes links,
`undeletion` restores one, `moves` changes their workspace, and `imported_clicks` stores the part of their clicks that
an import brought. `row_arrays` and `statement_groups` are for statements about many links.
"""
