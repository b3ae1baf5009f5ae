-- Why a provider cannot be so, in words that name the field; null when it can.
-- for: internal
create or replace function livewell_private.provider_problem(p_provider livewell_private.provider) returns text
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select case
        when (p_provider).name !~ '^[^\s/@]{1,100}$' then 'its name must be 1 to 100 characters without space, / and @'
        when (p_provider).state is null or (p_provider).state not in ('active', 'disabled', 'maintenance')
            then 'state must be active, disabled or maintenance'
        when (p_provider).quota_bytes <= 0 then 'quota_bytes must be above 0, or unlimited'
        when not isfinite((p_provider).quota_window) or (p_provider).quota_window < interval '1 hour'
            or (p_provider).quota_window > interval '400 days'
            or mod(extract(epoch from (p_provider).quota_window), 3600) <> 0
            then 'quota_window must be whole hours, from 1 hour to 400 days'
        when not ((p_provider).quota_use > 0 and (p_provider).quota_use <= 1)
            then 'quota_use must be a share above 0, at most 1'
        when (p_provider).pace not in ('even', 'none') then 'pace must be even or none'
        when not isfinite((p_provider).pace_bucket) or (p_provider).pace_bucket <= interval '0'
            or (p_provider).pace_bucket > (p_provider).quota_window
            then 'pace_bucket must be above 0, at most quota_window'
        when (p_provider).policy not in ('viewers', 'value') then 'policy must be viewers or value'
        when not ((p_provider).key_in = 'bearer' or (p_provider).key_in ~ '^(query|header):[A-Za-z0-9._-]{1,100}$')
            then 'key_in must be bearer, query:NAME or header:NAME'
        when (p_provider).base_url !~ '^https?://[A-Za-z0-9._:\[\]-]+(/[^\s?#@]*)?$'
            then 'base_url must be a plain http or https address, without credentials and query'
        when exists (select from unnest((p_provider).hosts) as h (host) where h.host is null or h.host !~ '^[A-Za-z0-9._-]+(:[0-9]{1,5})?$')
            then 'hosts must be names of hosts, each with a port where it needs one'
        when (p_provider).allow_private is null then 'allow_private must be true or false'
    end
$$;
