-- Says that there is no such task and which one was probably meant.
-- for: internal
create or replace function livewell_private.refuse_unknown_task(p_name text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_near text;
begin
    -- Near is what shares most runs of two letters.
    select t.name into v_near
    from livewell_private.task as t
    cross join lateral (
        select count(*) filter (where position(substr(p_name, i, 2) in t.name) > 0)::numeric / greatest(count(*), 1) as share
        from generate_series(1, length(p_name) - 1) as i
    ) as l
    where l.share >= 0.5
    order by l.share desc, abs(length(t.name) - length(p_name)), t.name
    limit 1;
    raise exception using errcode = 'LWT01',
        message = format('there is no task %s', coalesce(quote_ident(p_name), 'without a name')),
        hint = case when v_near is null then 'livewell tasks list' else format('did you mean %s?', v_near) end;
end $$;
