"""Lists of links for their owners: `lists.list_links`, and `limited` for limited keys. `searches` has the filters."""
