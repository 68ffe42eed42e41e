"""Imports and exports of links as files. The entry points are `imports.import_content` and `exports.export_links`."""
