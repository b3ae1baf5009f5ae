-- The setting whose name shares most runs of three letters with the one given; null when none is near.
-- for: internal
create or replace function livewell_private.nearest_setting(p_name text) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
    with candidate as (
        select p_name as name, true as asked
        union all
        select s.name, false from livewell_private.setting s
    ),
    piece as (
        select distinct c.name, c.asked, substr('  ' || c.name || ' ', i, 3) as letters
        from candidate c
        cross join lateral generate_series(1, length(c.name) + 1) as i
    ),
    likeness as (
        select
            named.name,
            count(*)::numeric / (
                (select count(*) from piece asked where asked.asked)
                + (select count(*) from piece whole where whole.name = named.name and not whole.asked)
                - count(*)
            ) as share
        from piece named
        join piece asked on asked.asked and asked.letters = named.letters
        where not named.asked
        group by named.name
    )
    select l.name from likeness l where l.share >= 0.3 order by l.share desc, l.name limit 1
$$;
