"""The API for a user's own account: name, password and sessions. `services` changes them, and `views` is the API."""
