"""Helpers of tests of events."""
