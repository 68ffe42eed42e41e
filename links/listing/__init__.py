"""Lists of links. `lists.list_links` is for owners, `operator_search` for the admin; `searches` has the filters."""
