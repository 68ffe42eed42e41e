"""The admin site: `admin_site.OperatorSite` has its front page, and `login` redirects operators to /accounts/."""
