"""Clicks and reports without the service's processes."""
