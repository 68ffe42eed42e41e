"""Domains and a DNS server."""
