"""The pages under /accounts/, served by django-allauth: login, passwords, second factors.

`adapters` connect allauth with accounts, sessions and limits. `forms` and `views` replace some of its own.
`middleware` restricts allauth to these paths. `openid_connect` and `sign_up` are for users who come from an OpenID
provider or are new. `refusals` has the pages that say why something is refused.

`safe_urls` checks where a browser may go after a login, and the URLs of the OpenID provider.
"""
