"""The settings of Django and of its apps that take more than a few lines, one subject a module."""
