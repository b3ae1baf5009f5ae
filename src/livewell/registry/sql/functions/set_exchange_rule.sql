-- Says which exchange keys with a suffix belong to, the empty suffix being all others; without an exchange the rule goes. False
-- when it already was so. What is watched of types with market hours is checked again.
-- for: owner
create or replace function livewell.set_exchange_rule(
    p_suffix text, p_exchange text, p_reason text default null, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_old text;
begin
    perform livewell_private.require_primary();
    if p_suffix is null or p_suffix !~ '^(\.[A-Z0-9]{1,10})?$' or p_exchange !~ '^[A-Z0-9]{1,20}$' then
        raise exception using errcode = 'LWR06', message = 'a rule is a suffix and the code of an exchange',
            hint = 'as .L and XLON; the empty suffix is for all other keys';
    end if;
    perform livewell_private.take_lock('exchange_rules');
    select r.exchange into v_old from livewell_private.exchange_rule as r where r.suffix = p_suffix;
    if v_old is not distinct from p_exchange then
        return false;
    end if;
    delete from livewell_private.exchange_rule as r where r.suffix = p_suffix;
    insert into livewell_private.exchange_rule (suffix, exchange) select p_suffix, p_exchange where p_exchange is not null;
    perform livewell_private.audit_change(
        'exchange_rule_changed', 'exchange_rule', p_suffix, to_jsonb(v_old), to_jsonb(p_exchange), p_reason, p_actor, p_now
    );
    perform livewell_private.gate_changed('market_hours', p_now);
    return true;
end $$;
