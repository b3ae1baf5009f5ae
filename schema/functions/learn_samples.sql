-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.learn_samples(p_ended livewell.ended_refresh[], p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    with found as (
        delete from livewell.sample as s
        using unnest(p_ended) as e
        where s.item_id = e.item_id and e.outcome in ('fetched', 'unchanged')
        returning e.item_id, e.outcome, e.hash
    )
    insert into livewell.sample_result (data_type, fresh, ok)
    select i.data_type, n.unchanged, n.unchanged or coalesce(i.expires_at > p_now, false)
    from found as f
    join livewell.item as i on i.id = f.item_id and i.fetched_at is not null
    cross join lateral (
        select f.outcome = 'unchanged' or coalesce(f.hash = i.content_hash, false) as unchanged
    ) as n;
end $function$;
