"""What people say of results, kept so that nothing acknowledged is ever lost.

A front end makes a `pool.Pool`, opens a `session.Session` on it and shows `session.current`; every call that changes
something returns when the change is on disk. `keys.KEYS` names the keys that all front ends share.
"""
