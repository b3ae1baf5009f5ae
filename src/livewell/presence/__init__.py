"""Who looks at what: sessions, subscriptions, and the number of distinct users at each item.

Owns `gateway`, `session`, `subscription` and `viewer`. An item's viewers are exact after any interleaving, because each
user is counted by reference and locks are taken in one order: sessions, then viewers and items by their ids. A session
that was not renewed for five minutes is swept away with all it watched.
"""
