-- Records what was odd about answers that were believed or not, once per code and type with how many and the last of them.
-- for: internal
create or replace function livewell_private.warn_of_answers(p_ended jsonb, p_now timestamptz) returns void
language sql
set search_path = pg_catalog, pg_temp as $$
    select livewell_private.warn('fetching.' || a.code, a.data_type, a.message, p_now, a.times)
    from (
        select w.warned ->> 'code' as code, e.ended ->> 'type' as data_type, count(*)::integer as times,
            (array_agg(format('%s: %s', e.ended ->> 'key', w.warned ->> 'message') order by e.at desc))[1] as message
        from jsonb_array_elements(p_ended) with ordinality as e (ended, at)
        cross join lateral jsonb_array_elements(e.ended -> 'warnings') as w (warned)
        group by 1, 2 order by 1, 2
    ) as a
$$;
