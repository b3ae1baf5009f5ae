-- name: open_sessions
-- Opens sessions, each of a user, at a gateway or on their own.
select livewell.open_sessions($1, $2, $3)

-- name: close_sessions
-- Ends sessions with all they looked at; of a gateway, those that are still its own.
select livewell.close_sessions($1, p_gateway => $2)

-- name: renew_sessions
-- Keeps sessions alive that have no gateway, and tells which are gone.
select livewell.renew_sessions($1)

-- name: heartbeat_interval
-- How often a client without a gateway renews its session.
select livewell.setting_interval('presence.heartbeat_interval')

-- name: gateway_pace
-- How often a gateway renews its sessions, and how long who comes dwells before anything is refreshed for it.
select livewell.setting_interval('live.renew_every') as renew_every, livewell.setting_interval('live.dwell') as dwell

-- name: renew_gateway
-- Keeps all sessions of a gateway alive, or tells that it is gone.
select livewell.renew_gateway($1)

-- name: close_gateway
-- Ends a gateway and some of its sessions; answers with how many are left.
select livewell.close_gateway($1)

-- name: sessions_of_gateway
-- The sessions that are a gateway's at this moment.
select array_agg(s.id) from livewell.sessions as s where s.gateway = $1

-- name: subscribe
-- Subscribes sessions to items; of a gateway, those that are still its own.
select s.outcomes, s.items, s.versions, s.fetched_at
from livewell.subscribe($1, $2, $3, p_gateway => $4, p_dwell => $5) as s

-- name: unsubscribe
-- Ends subscriptions of sessions; of a gateway, those that are still its own.
select livewell.unsubscribe($1, $2, $3, p_gateway => $4)

-- name: resume
-- Takes a session over for a gateway and makes what it looks at exactly these items.
select r.session_outcome, r.outcomes, r.items, r.versions, r.fetched_at, r.left_types, r.left_keys
from livewell.resume($1, $2, $3, $4, $5, p_dwell => $6) as r

-- name: ask_for_items
-- Sessions that stayed with items for a while ask for them.
select livewell.ask_for_items($1, $2, p_gateway => $3)

-- name: list_sessions
-- Sessions of a user or gateway, or all, the newest first.
select id, user_id, gateway, last_seen, created_at, items
from livewell.sessions
where ($1::text is null or user_id = $1) and ($2::text is null or gateway = $2)
order by created_at desc, id
limit $3

-- name: list_viewers
-- Watched items of a type and key, or all, those with the most viewers first.
select item_id, data_type, key, viewers, viewers_average, watched_since, due_at
from livewell.viewers
where ($1::text is null or data_type = $1) and ($2::text is null or key = $2)
order by viewers desc, data_type, key
limit $3

-- name: list_sources
-- Where presence is read from, and how that went.
select name, reads, every, enabled, read_at, last_ok_at, silent_since, last_error, rows_read, rows_skipped, users
from livewell.presence_sources
order by name

-- name: apply_sources
-- Makes presence sources as declared, or says what that would change.
select thing, name, change, field, old::text, new::text from livewell.apply_presence_sources($1::text::jsonb, $2, $3)

-- name: totals
-- How much there is of everything.
select sessions, gateways, subscriptions, items from livewell.presence_totals
