"""Running the service: `supervisor` keeps its processes alive, `preparation` makes the database ready."""
