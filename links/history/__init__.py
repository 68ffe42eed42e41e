"""The history of single links. `services` reads it and restores former values, and `views` is its API."""
