"""Many links in one call. `views` and `services` are the entry points, and `moving` moves links to another workspace.

`drafting` turns validated fields into drafts, and `storing` stores them within the plan's quota; imports use both.
`changes` updates links. `verdicts` is the response with one result for each link. Imports and exports also use
`parsers`, `serializers` and `schema`.
"""
