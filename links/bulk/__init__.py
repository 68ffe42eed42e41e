"""Many links in one call. `views` and `services` are the entry points, and `moving` moves links to another workspace.

`creation` turns validated fields into drafts and stores them; imports use it, too. `verdicts` is the response with one
result for each link. Imports and exports also use `serializers` and `schema`.
"""
