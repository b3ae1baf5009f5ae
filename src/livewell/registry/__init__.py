"""Data types: what is kept fresh, from which endpoint, how old it may be, when it may be refreshed, and which keys there are.

Owns `data_type`, `record` (where data goes whose type names no table), the key catalogue, and the gates. A type is one
row; nothing else in the product knows a type by name. Only the owner of the schema writes here: to everybody else the
registry is read-only. Identifiers are checked when they are written and quoted when they are used. A type that is
wrong stops only itself: its check fails, is warned about, and counts as stale at most once per TTL.
"""
