"""Login with the OpenID provider. Entry points: `views`, and `identities.IdentityAdapter` in the settings."""
