"""Backups: `archive.write_backup` and `restoring.restore_backup`, for the commands of the same names."""
