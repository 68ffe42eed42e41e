"""Many links in one call. `views` and `services` are the entry points, and `moving` moves links to another workspace.

`creation` turns validated fields into drafts and stores them. Imports use it, too, and the results of items
in `services`. Imports and exports also use `serializers` and `schema`.
"""
