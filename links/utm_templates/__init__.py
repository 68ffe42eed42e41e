"""UTM templates of a workspace: values for new links, and which values are allowed.

`views` and `services` are the entry points; whatever stores links applies a template with `services`.
"""
