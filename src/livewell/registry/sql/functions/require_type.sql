-- Refuses a type that nobody declared, and says which one was probably meant.
-- for: internal
create or replace function livewell_private.require_type(p_name text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_near text;
begin
    if exists (select from livewell_private.data_type as t where t.name = p_name) then
        return;
    end if;
    -- Near is what shares most runs of two letters; what is longer than any name is near to none.
    select t.name into v_near
    from livewell_private.data_type as t
    cross join lateral (
        select count(*) filter (where position(substr(p_name, i, 2) in t.name) > 0)::numeric / greatest(count(*), 1) as share
        from generate_series(1, least(length(p_name), 100) - 1) as i
    ) as l
    where length(p_name) <= 100 and l.share >= 0.5
    order by l.share desc, abs(length(t.name) - length(p_name)), t.name
    limit 1;
    raise exception using errcode = 'LWR01', message = format('unknown type %s', coalesce(quote_ident(left(p_name, 100)), 'without a name')),
        hint = case when v_near is null then 'livewell types list' else format('did you mean %s?', v_near) end;
end $$;
