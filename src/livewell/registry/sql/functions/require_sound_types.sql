-- Refuses the types of a declaration that change and cannot be live so, for everything that is wrong with them at once.
-- for: internal
create or replace function livewell_private.require_sound_types(p_declared jsonb, p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_wrong record;
begin
    select min(f.data_type) as name, string_agg(format('type %s: %s', f.data_type, f.message), '; ') as message,
        string_agg(distinct f.fix, '; ') filter (where f.fix <> '') as fix
    into v_wrong
    from livewell.findings_on_asked(p_declared, p_now) as f
    join livewell_private.types_as_asked(p_declared, p_now) as a on (a.type).name = f.data_type
    -- What stays as it is was checked when it was written; a table that went since is the concern of check_types.
    where f.severity = 'error' and (a.change).change <> 'same';
    if v_wrong.name is not null then
        raise exception using errcode = 'LWR03', message = v_wrong.message, detail = format('type %s', v_wrong.name),
            hint = coalesce(v_wrong.fix, '');
    end if;
end $$;
