"""Reports by mail, for members who choose them: of weeks and months, and alerts about unusual numbers of clicks.

`subscriptions` has the choices, `due` decides who gets which mail, `mails` writes them, and `pages` ends them.
"""
