"""The `livewell.toml` to begin with, which `livewell init` writes."""

FIRST_FILE = """\
# What Livewell keeps fresh, and from where. `livewell apply` shows what would change and makes it so; `livewell up`
# runs it.

# A provider is whoever is called. This one is the simulator (`livewell simulate`); a real one has an https:// address.
[provider.acme]
base_url      = "http://127.0.0.1:8801/api/v3"
allow_private = true                     # only for a server of your own: addresses within your network are refused else
# key_in      = "query:apikey"           # how it wants its key: "query:NAME", "header:NAME" or "bearer"
# [provider.acme.keys.main]              # where the key is found; it is never stored
# source = "env:ACME_API_KEY"
quota         = { bytes = "20 GB", window = "30 days", use = 0.95, pace = "even" }

# An endpoint is what is limited. Nothing is ever sent beyond this, by any number of processes.
[provider.acme.endpoint.quote]
requests   = { per_minute = 300 }
concurrent = 10

# A data type: how old it may be, how it is fetched, and what an answer must hold. What does not fit is refused.
[type.quote]
endpoint = "acme/quote"
ttl      = "10 seconds"
bytes    = "2 kB"                        # about how large an answer is, until it is learned
extra    = "ignore"                      # fields that are not declared: "refuse" the answer, or "ignore" them
fetch    = { path = "/quote/{keys}", keys_per_request = 20, items = "$[*]", key = "symbol" }
fields.symbol = { type = "string" }
fields.price  = { type = "number", above = 0, below = 1_000_000_000 }
fields.volume = { type = "integer", at_least = 0 }
fields.at     = { type = "epoch", from = "timestamp", source_time = true, rule = "not_older" }
# table       = "public.quotes"          # your own table, with key_column and time_column; else Livewell keeps the data
# gate        = "market_hours"           # when it is worth asking
"""
