"""What operators do with links in the admin: `search`, `bans` of single links, and how many a ban has `affected`."""
