"""Addresses of visitors in countries, according to the geodata that the service includes."""

AMERICAN, BRITISH, JAPANESE, NOWHERE = "8.8.8.8", "81.2.69.160", "133.11.0.1", "10.0.0.1"
