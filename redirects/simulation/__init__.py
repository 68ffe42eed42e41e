"""Explains which checks a visit of a link would pass, and where the visitor would end, without a visit."""
