"""The small pages that people see: `responses` has their shell and refuses requests, `style` their appearance.

`refusals` lists those of any page. `redirects` and `sign_in` have their own.
"""
