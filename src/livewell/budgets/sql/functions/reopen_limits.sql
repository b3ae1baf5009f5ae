-- Lets claims ask again at once where something was opened or changed. An endpoint concerns itself; what a provider, its
-- account or its keys allow concerns every endpoint of the provider.
-- for: internal
create or replace function livewell_private.reopen_limits(p_names text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_providers constant text[] := array(
        select split_part(n.name, '@', 1) from unnest(p_names) as n (name) where strpos(n.name, '/') = 0
    );
    v_closed text[];
begin
    v_closed := array(
        select u.name from livewell_private.limit_use as u
        where (u.name = any (p_names) or split_part(split_part(u.name, '/', 1), '@', 1) = any (v_providers))
            and u.next_allowed_at <> '-infinity'
        order by u.name collate "C"
        for update
    );
    update livewell_private.limit_use as u set next_allowed_at = '-infinity' where u.name = any (v_closed);
end $$;
