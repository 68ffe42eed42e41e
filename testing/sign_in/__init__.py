"""What people sign in with: authenticator apps, passkeys, mails and an OpenID provider."""
