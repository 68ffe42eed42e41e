"""Tags as objects: their names, colours and counts, and changes of a tag in all links. `views` is the entry point."""
