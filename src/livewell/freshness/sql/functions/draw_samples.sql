-- Draws watched items of a provider at random, each viewer being as likely as any other, one for each whole call that may be
-- spent, and queues their refresh at the priority of their viewers. What has no data needs no fetch: its viewers see nothing. Items whose gate is
-- closed are not fetched and not counted: their source stands still. Items that somebody else holds are left to another draw.
-- for: internal
create or replace function livewell_private.draw_samples(p_provider text, p_calls integer, p_now timestamptz) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_ids bigint[];
    v_spent integer;
    v_type text;
    v_shut bigint[] := array[]::bigint[];
begin
    select array_agg(d.id) into v_ids
    from (
        select i.id
        from livewell_private.random_watched(livewell.setting_integer('freshness.figures_items')) as s
        join livewell_private.item as i on i.id = s.item_id and i.watched
        join livewell_private.known_types as t on t.name = i.data_type and t.enabled
        join livewell.endpoints as e on e.name = t.endpoint and e.state = 'active' and e.provider = p_provider
        where not exists (select from livewell_private.sample as p where p.item_id = i.id)
        order by -ln(1 - random()) / (i.viewers * s.weight)
        limit least(p_calls, 100)
    ) as d;
    v_ids := array(
        select i.id from livewell_private.item as i where i.id = any (v_ids) and i.watched order by i.id for no key update skip locked
    );
    for v_type in
        select distinct t.name from livewell_private.item as i join livewell_private.known_types as t on t.name = i.data_type
        where i.id = any (v_ids) and t.gate <> 'always'
    loop
        v_shut := v_shut || array(
            select i.id from livewell_private.item as i
            join livewell_private.open_gates(v_type, array(
                select n.key from livewell_private.item as n where n.id = any (v_ids) and n.data_type = v_type
            ), p_now) as g on g.key = i.key
            where i.data_type = v_type and i.id = any (v_ids) and not g.open
        );
    end loop;
    insert into livewell_private.sample_result (data_type, fresh, ok)
    select i.data_type, false, false from livewell_private.item as i
    where i.id = any (v_ids) and i.id <> all (v_shut) and i.expires_at is null;
    insert into livewell_private.sample (item_id, drawn_at)
    select i.id, p_now from livewell_private.item as i
    where i.id = any (v_ids) and i.id <> all (v_shut) and i.expires_at is not null
    order by i.id
    on conflict (item_id) do nothing;
    get diagnostics v_spent = row_count;
    perform livewell_private.queue_refreshes(array(
        select row (i.id, greatest(t.priority_floor, i.viewers), 'sample', null, false)::livewell_private.wanted_refresh
        from livewell_private.item as i
        join livewell_private.known_types as t on t.name = i.data_type
        where i.id = any (v_ids) and i.id <> all (v_shut) and i.expires_at is not null
    ), p_now);
    update livewell_private.sample_allowance as a set credit = greatest(a.credit - v_spent, 0) where a.provider = p_provider;
    return cardinality(v_ids) - cardinality(v_shut);
end $$;
