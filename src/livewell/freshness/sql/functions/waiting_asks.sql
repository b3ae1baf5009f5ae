-- Who asks for which item, one for each, and how many refreshes that user asked for before wait at its endpoint already. Of several who
-- ask for one item it is the one with the fewest before it, so that nobody's many stand before what another has asked for.
-- for: internal
create or replace function livewell_private.waiting_asks(p_item_ids bigint[], p_askers text[])
returns table (item_id bigint, asker text, waiting bigint, at bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = on set jit = off as $$
#variable_conflict use_column
declare
    v_most constant bigint := livewell.setting_integer('freshness.asked_per_user');
begin
    if p_askers is null then
        return;
    end if;
    return query
    with asked as (
        select a.item_id, a.asker, a.at, t.endpoint, row_number() over (partition by a.asker, t.endpoint order by a.at) as turn
        from unnest(p_item_ids, p_askers) with ordinality as a (item_id, asker, at)
        join livewell_private.item as i on i.id = a.item_id
        join livewell_private.known_types as t on t.name = i.data_type
    ),
    waiting as (
        select a.asker, a.endpoint, w.waiting
        from (select distinct a.asker, a.endpoint from asked as a) as a
        cross join lateral (
            select count(*) as waiting from (
                select from livewell_private.job_live as j
                where j.payload ->> 'asked_by' = a.asker and j.endpoint = a.endpoint
                    and j.state = 'pending' and j.kind like 'refresh.%' and j.payload ? 'asked_by'
                limit v_most
            ) as j
        ) as w
    )
    select distinct on (a.item_id) a.item_id, a.asker, w.waiting, a.at
    from asked as a
    join waiting as w on w.asker = a.asker and w.endpoint = a.endpoint
    order by a.item_id, w.waiting + a.turn, a.at;
end $$;
