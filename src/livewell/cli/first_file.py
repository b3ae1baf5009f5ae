"""The `livewell.toml` to begin with, which `livewell init` writes.

Every option that is commented out works when its comment is taken off: a test takes off all of them and runs the file.
"""

FIRST_FILE = """\
# What Livewell keeps fresh, and from where. `livewell apply` shows what would change and makes it so; `livewell up`
# runs it.

# A provider is whoever is called. This one is the simulator (`livewell simulate`); a real one has an https:// address.
[provider.acme]
base_url      = "http://127.0.0.1:8801/api/v3"
allow_private = true                     # only for a server of your own: addresses within your network are refused else
quota         = { bytes = "20 GB", window = "30 days", use = 0.95, pace = "even" }
# key_env     = "ACME_API_KEY"           # the environment variable with your key; the key itself is never stored
# key_in      = "query:apikey"           # how it wants its key: "query:NAME", "header:NAME" or "bearer"

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
# fields.venue = { type = "string", from = "market.venue", missing = true }     # inside an object; it may be left out
# gate        = "market_hours"           # when it is worth asking; needs the extra livewell[market]
# strategy    = "both"                   # also by a schedule, for the keys of `livewell keys`
# cron        = "0 6 * * 1-5"
# table       = "public.quotes"          # your own table, with a column for each field; else Livewell keeps the data
# key_column  = "symbol"
# time_column = "fetched_at"
"""
