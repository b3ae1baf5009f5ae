-- The triggers that refuse changes of the audit log and are not in force now: dropped, switched off, or made something else. The
-- owner of a table can do that; what was changed meanwhile, the seals tell.
-- for: service
create or replace function livewell.verify_audit_guards() returns table (
    problem text, seal bigint, entry_id bigint, detail text
)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select 'guard_missing', null::bigint, null::bigint, format('nothing refuses changes of %s: its trigger %s', t.name, case
        when g.tgname is null then 'is not there' when g.tgenabled <> 'A' then 'is switched off' else 'is another one'
    end)
    from (values ('audit_entry'), ('audit_seal')) as t (name)
    left join pg_class as c on c.relname = t.name and c.relnamespace = 'livewell_private'::regnamespace
    left join pg_trigger as g on g.tgrelid = c.oid and g.tgname = t.name || '_is_append_only'
    -- Before a statement (2), delete (8), update (16) or truncate (32).
    where (g.tgenabled = 'A' and g.tgtype = 58 and g.tgqual is null and g.tgfoid = 'livewell_private.refuse_audit_change'::regproc) is not true
    order by t.name
$$;
