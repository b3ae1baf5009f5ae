-- Which keys of a type may be refreshed now by its gate, and when a closed gate opens, if that is known. A gate that fails, or
-- says nothing of a key, is open: data grows old for certain, the harm of a refresh is small. It is warned about.
-- for: internal
create or replace function livewell_private.open_gates(p_type text, p_keys text[], p_now timestamptz)
returns table (key text, open boolean, opens_at timestamptz)
language plpgsql
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_gate text;
    v_answers jsonb;
    v_silent text;
begin
    perform livewell_private.require_type(p_type);
    select t.gate into strict v_gate from livewell_private.data_type as t where t.name = p_type;
    if v_gate = 'market_hours' then
        return query select g.key, g.open, g.opens_at from livewell_private.gate_market_hours(p_keys, p_now, p_type) as g;
        return;
    end if;
    if v_gate <> 'always' then
        begin
            v_answers := livewell_private.ask_gate(v_gate, p_keys, p_now);
        exception
            when others then
                perform livewell_private.warn('registry.gate_failed', p_type, format('%s: %s: %s', v_gate, sqlstate, sqlerrm), p_now);
        end;
        select k.key into v_silent from unnest(p_keys) as k (key) where v_answers -> k.key is null limit 1;
        if found and v_answers is not null then
            perform livewell_private.warn('registry.gate_silent', p_type, format('%s says nothing of %L', v_gate, left(v_silent, 100)), p_now);
        end if;
    end if;
    return query
    select a.key, a.open, case when not a.open then a.opens_at end
    from (
        select distinct k.key, coalesce((v_answers -> k.key ->> 'open')::boolean, true) as open,
            (v_answers -> k.key ->> 'opens_at')::timestamptz as opens_at
        from unnest(p_keys) as k (key)
    ) as a;
end $$;
