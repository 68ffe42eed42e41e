"""The cost of recording, counting and reporting clicks."""
