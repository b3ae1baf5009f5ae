-- What a source says now, as users, types and keys by position, each once; those that Livewell does not know (a type that is
-- not there, a key that is none of its type or not known where only known ones may be) are counted and left out.
-- for: internal
create or replace function livewell_private.read_presence_source(
    p_reads text, out users text[], out types text[], out keys text[], out rows_read integer, out rows_skipped integer
)
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_said record;
    v_is_function boolean;
begin
    perform livewell_private.check_presence_source(p_reads);
    v_is_function := livewell_private.find_relation(p_reads) is null;
    perform livewell_private.require_foreign('read_foreign_presence');
    select f.* into v_said from livewell_private.read_foreign_presence(format(
        'select array_agg(r.user_id), array_agg(r.data_type), array_agg(r.key)'
        ' from (select distinct r.user_id::text, r.data_type::text, r.key::text from %I.%I%s as r) as r',
        split_part(p_reads, '.', 1), split_part(p_reads, '.', 2), case when v_is_function then '()' else '' end
    )) as f;
    select count(*), count(*) filter (where not r.fits), array_agg(r.user_id) filter (where r.fits),
        array_agg(r.data_type) filter (where r.fits), array_agg(r.key) filter (where r.fits)
    into rows_read, rows_skipped, users, types, keys
    from (
        select s.user_id, s.data_type, s.key,
            coalesce(length(s.user_id) between 1 and 200 and t.enabled and livewell_private.is_key(s.key, t.key_pattern), false) as fits
        from unnest(v_said.users, v_said.types, v_said.keys) as s (user_id, data_type, key)
        left join livewell_private.known_types as t on t.name = s.data_type
    ) as r;
    if exists (select from livewell_private.unknown_keys(types, keys)) then
        select rows_skipped + count(*) filter (where u.key is not null), array_agg(r.user_id) filter (where u.key is null),
            array_agg(r.data_type) filter (where u.key is null), array_agg(r.key) filter (where u.key is null)
        into rows_skipped, users, types, keys
        from unnest(users, types, keys) as r (user_id, data_type, key)
        left join livewell_private.unknown_keys(types, keys) as u on u.data_type = r.data_type and u.key = r.key;
    end if;
end $$;
