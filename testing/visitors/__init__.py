"""Headers that visitors send."""
