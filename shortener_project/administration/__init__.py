"""The admin site: its front page and its login."""
