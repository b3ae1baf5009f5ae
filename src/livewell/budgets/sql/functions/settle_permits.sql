-- Settles permits of one block by their numbers; each counts once, so that a repeated or late call changes nothing. Answers
-- with those settled now. What is not known (null) stays as it was reserved.
-- for: service
create or replace function livewell.settle_permits(
    p_block uuid, p_numbers integer[], p_tokens integer[], p_bytes bigint[], p_outcomes text[],
    p_now timestamptz default clock_timestamp()
) returns integer[]
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_block livewell_private.permit_block;
    v_settled integer[];
begin
    perform livewell_private.require_primary();
    if cardinality(p_numbers) <> all (array[cardinality(p_tokens), cardinality(p_bytes), cardinality(p_outcomes)])
        or not p_outcomes <@ array['completed', 'failed', 'unsent'] or -1 >= any (p_tokens) or -1 >= any (p_bytes) then
        raise exception using errcode = 'LWB05',
            message = 'numbers, tokens, bytes and outcomes must be of one length, nothing negative, outcomes known',
            hint = 'one of completed, failed, unsent';
    end if;
    -- Mostly all that is still open is settled at once, and the block goes.
    delete from livewell_private.permit_block as b where b.id = p_block and b.open <@ p_numbers returning b.* into v_block;
    v_settled := v_block.open;
    if not found then
        select b.* into v_block from livewell_private.permit_block as b where b.id = p_block for update;
        v_settled := array(select n.number from unnest(v_block.open) as n (number) where n.number = any (p_numbers));
        if v_settled = '{}' then
            return v_settled;
        end if;
        if cardinality(v_settled) = cardinality(v_block.open) then
            delete from livewell_private.permit_block as b where b.id = p_block;
        else
            update livewell_private.permit_block as b
            set open = array(select n.number from unnest(b.open) as n (number) where not n.number = any (v_settled))
            where b.id = p_block;
        end if;
    end if;
    perform livewell_private.settle_calls(array_agg(c::livewell_private.spent_call), p_now)
    from (
        select distinct on (n.number)
            v_block.endpoint, v_block.api_key, 'permit' as subject, v_block.granted_at as started_at, v_block.bytes as reserved_bytes,
            v_block.tokens as reserved_tokens, n.bytes, n.tokens, n.outcome, null::jsonb as rate, false as is_passenger
        from unnest(p_numbers, p_tokens, p_bytes, p_outcomes) as n (number, tokens, bytes, outcome)
        where n.number = any (v_settled)
        order by n.number
    ) as c;
    return v_settled;
end $$;
