-- How many slots of a second a window of a minute counts: a minute, the oldest slot whole, and what may be sent late.
-- for: internal
create or replace function livewell_private.seconds_counted(p_send_within interval) returns integer
language sql immutable
return 61 + ceil(extract(epoch from p_send_within))::integer;
