-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.hold_presence(p_source text, p_users text[], p_types text[], p_keys text[], p_now timestamp with time zone, OUT came integer, OUT went integer)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
    v_gateway constant text := 'source:' || p_source;
    v_sessions uuid[];
    v_users text[];
    v_types text[];
    v_keys text[];
    v_items bigint[];
    v_left uuid[];
begin
    came := 0;
    went := 0;
    if exists (select from livewell.gateway as g where g.name = v_gateway) and not livewell.renew_gateway(v_gateway, p_now) then
        -- A session that somebody has at this moment is not waited for: the next reading tries again.
        for v_try in 1 .. 1000 loop
            exit when livewell.close_gateway(v_gateway, p_now) = 0;
        end loop;
    end if;
    select array_agg(livewell.source_session(v_gateway, u.user_id)), array_agg(u.user_id) into v_sessions, v_users
    from (select distinct a.user_id from unnest(p_users) as a (user_id)) as u
    where not exists (select from livewell.session as s where s.id = livewell.source_session(v_gateway, u.user_id));
    if v_sessions is not null then
        perform livewell.open_sessions(v_sessions, v_users, v_gateway, p_now);
    end if;
    select array_agg(s.id), array_agg(a.data_type), array_agg(a.key) into v_sessions, v_types, v_keys
    from unnest(p_users, p_types, p_keys) as a (user_id, data_type, key)
    join livewell.session as s on s.gateway = v_gateway and s.user_id = a.user_id
    left join livewell.item as i on i.data_type = a.data_type and i.key = a.key
    left join livewell.subscription as c on c.session_id = s.id and c.item_id = i.id
    where c.item_id is null;
    if v_sessions is not null then
        came := (
            select count(*) from unnest(livewell.subscribe(v_sessions, v_types, v_keys, p_now)) as o (outcome)
            where o.outcome = 'subscribed'
        );
    end if;
    select array_agg(s.id) into v_left from livewell.session as s
    where s.gateway = v_gateway and not exists (select from unnest(p_users) as a (user_id) where a.user_id = s.user_id);
    if v_left is not null then
        went := (select count(*) from livewell.subscription as c where c.session_id = any (v_left));
        perform livewell.close_sessions(v_left, p_now);
    end if;
    perform from livewell.session as s where s.gateway = v_gateway order by s.id for no key update;
    select array_agg(c.session_id), array_agg(c.item_id), array_agg(s.user_id) into v_sessions, v_items, v_users
    from livewell.session as s join livewell.subscription as c on c.session_id = s.id
    join livewell.item as i on i.id = c.item_id
    where s.gateway = v_gateway and not exists (
        select from unnest(p_users, p_types, p_keys) as a (user_id, data_type, key)
        where a.user_id = s.user_id and a.data_type = i.data_type and a.key = i.key
    );
    if v_items is not null then
        perform livewell.end_subscriptions(v_sessions, v_items, v_users, p_now);
        went := went + cardinality(v_items);
    end if;
end $function$;
