-- The verdict on puts that were refused where they were read, and on those of what is no key of the type, is not known where only known
-- ones may be, or was put twice in the batch.
-- for: internal
create or replace function livewell_private.refuse_puts(p_puts livewell_private.ended_fetch[]) returns livewell_private.fetch_verdict[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    return array(
        select row (r.job, 'refused', r.reason, r.message)::livewell_private.fetch_verdict
        from (
            select p.job, case
                when p.reason is not null then p.reason
                when p.key is null then 'missing_key'
                when not livewell_private.is_key(p.key, t.key_pattern) then 'invalid_key'
                when u.key is not null then 'unknown_key'
                when row_number() over (partition by p.key order by p.job) > 1 then 'duplicate_key'
            end as reason, p.message
            from unnest(p_puts) as p
            join livewell_private.known_types as t on t.name = p.type
            left join livewell_private.unknown_keys(
                array(select p.type from unnest(p_puts) as p where p.key is not null),
                array(select p.key from unnest(p_puts) as p where p.key is not null)
            ) as u on u.key = p.key
        ) as r
        where r.reason is not null
    );
end $$;
