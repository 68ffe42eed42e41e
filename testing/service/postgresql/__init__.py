"""Database servers and databases of services, and their faults."""
