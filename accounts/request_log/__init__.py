"""The log of API requests by key, for the owners of workspaces: `recorder` collects, `store` writes, `views` shows."""
