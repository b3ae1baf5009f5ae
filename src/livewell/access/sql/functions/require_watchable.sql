-- Refuses, for users who call themselves, what they may not look at: looking counts as presence, and presence spends. Types and keys by
-- position. Where row-level security decides, only a gateway can ask as the user, and nobody looks by calling.
-- for: internal
create or replace function livewell_private.require_watchable(p_types text[], p_keys text[]) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_asked record;
begin
    if livewell_private.is_service(livewell_private.calling_role()) then
        return;
    end if;
    for v_asked in
        select a.data_type, array_agg(distinct a.key) as keys
        from unnest(p_types, p_keys) as a (data_type, key)
        -- A type that is not there is told of by whoever makes its items.
        join livewell_private.known_types as t on t.name = a.data_type
        group by a.data_type order by a.data_type
    loop
        perform livewell_private.require_reader(v_asked.data_type, livewell_private.calling_role());
        if not livewell_private.watchable_keys(v_asked.data_type, v_asked.keys) @> v_asked.keys then
            raise exception using errcode = 'LWC01', message = format('you may not look at some of the keys of type %s', v_asked.data_type),
                hint = 'its owner says who may: read in livewell.toml';
        end if;
    end loop;
end $$;
