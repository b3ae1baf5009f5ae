-- Tells whoever listens which keys have changed, when this commits: per type, in notices short enough to be sent. What is too long
-- to be told is found by those who look.
-- for: internal
create or replace function livewell_private.tell_changes(p_judged livewell_private.judged_fetch[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.notify('livewell_changes', jsonb_build_object('t', c.data_type, 'k', jsonb_agg(c.key order by c.key))::text)
    from (
        -- Elements of a JSON list are apart by two more.
        select k.data_type, k.key, sum(k.size + 2) over (partition by k.data_type order by k.key) / 4000 as part
        from (
            select (j.told).type as data_type, (j.told).key, octet_length(to_jsonb((j.told).key)::text) as size
            from unnest(p_judged) as j where (j.found).outcome = 'fetched'
        ) as k
        where k.size <= 3000
    ) as c
    group by c.data_type, c.part;
end $$;
