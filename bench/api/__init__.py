"""Creating, reading and updating a link, compared with a stock project."""
