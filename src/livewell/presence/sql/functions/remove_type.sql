-- Takes a type out of the registry. One in use is refused with what is there, unless forced: then its refreshes are cancelled
-- and its items, keys and records in Livewell's own table go; a user's table stays as it is. Items go before the refreshes are
-- counted a last time, because only who holds an item queues one.
-- for: owner
create or replace function livewell.remove_type(
    p_name text, p_force boolean default false, p_reason text default null, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_kind constant text := 'refresh.' || p_name;
    v_type livewell_private.data_type;
    v_there jsonb;
    v_items bigint[];
begin
    perform livewell_private.require_primary();
    perform livewell_private.require_type(p_name);
    perform livewell_private.take_lock('registry');
    select t.* into v_type from livewell_private.data_type as t where t.name = p_name for update;
    v_there := livewell_private.use_of_type(p_name);
    if not p_force and exists (select from jsonb_each_text(v_there) as u where u.value::bigint > 0) then
        raise exception using errcode = 'LWR04', message = format('type %s is in use: it has %s', p_name, (
            select string_agg(u.value || ' ' || u.key, ', ' order by u.key) from jsonb_each_text(v_there) as u where u.value::bigint > 0
        )), hint = format('livewell types remove %s --force gives all that up; a table of your own stays', p_name);
    end if;
    perform livewell.cancel_jobs(
        array(select j.id from livewell_private.job_live as j where j.kind = v_kind), format('type %s was removed', p_name), p_actor, p_now
    );
    -- In the order in which presence takes them.
    perform from livewell_private.subscription as s
    where s.item_id in (select i.id from livewell_private.item as i where i.data_type = p_name)
    order by s.session_id, s.item_id for update;
    perform from livewell_private.viewer as v
    where v.item_id in (select i.id from livewell_private.item as i where i.data_type = p_name)
    order by v.item_id, v.user_id for update;
    v_items := array(select i.id from livewell_private.item as i where i.data_type = p_name order by i.id for update);
    perform livewell.cancel_jobs(
        array(select j.id from livewell_private.job_live as j where j.kind = v_kind), format('type %s was removed', p_name), p_actor, p_now
    );
    delete from livewell_private.subscription as s where s.item_id = any (v_items);
    delete from livewell_private.viewer as v where v.item_id = any (v_items);
    delete from livewell_private.item as i where i.id = any (v_items);
    delete from livewell_private.type_learning as l where l.data_type = p_name;
    delete from livewell_private.record as r where r.data_type = p_name;
    delete from livewell_private.type_key as k where k.data_type = p_name;
    delete from livewell_private.data_type as t where t.name = p_name;
    perform livewell_private.audit_change(
        'type_removed', 'data_type', p_name, livewell_private.masked_fetch(to_jsonb(v_type) - '{name,created_at,updated_at}'::text[]), null,
        p_reason, p_actor, p_now
    );
    return v_there;
end $$;
