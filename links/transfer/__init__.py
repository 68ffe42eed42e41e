"""Imports and exports of links as files. The entry points are `imports.import_content` and `exports.export_links`,
with `views` for the API.

`import_file` is the file of a command, `import_reader` reads its rows in one of the `import_layouts`, and
`layout_values` reads values as other services write them. `import_response` has the result of each row.
`command_options` finds the owner and the domain that a command names.
"""
