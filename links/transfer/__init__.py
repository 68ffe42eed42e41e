"""Imports and exports of links as files. The entry points are `imports.import_content` and `exports.export_links`,
with `views` for the API.

`import_files` reads the rows of a file or a request in one of the `import_layouts`, and `cells` reads and writes the
cells of a spreadsheet. `command_options` finds the owner and the domain that a command names.
"""
