"""An OpenID provider in a separate process: django-oauth-toolkit, in a Django project without any of our code."""
