-- Whether a user is anonymous: its name begins with `anon:`, as one has it whose claims say so, or whom a gateway names so.
-- for: internal
create or replace function livewell_private.is_anonymous(p_user text) returns boolean
language sql immutable
return p_user like 'anon:%';
