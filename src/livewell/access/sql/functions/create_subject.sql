-- Makes a subject, a profile or an account, say: a user one of its own, in its tenant; the service one of anybody's.
-- for: service, user
create or replace function livewell.create_subject(
    p_subject text, p_kind text, p_owner text default null, p_tenant text default null, p_now timestamptz default clock_timestamp()
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare
    v_for_service constant boolean := livewell_private.is_service(livewell_private.calling_role());
    v_owner constant text := case when v_for_service then p_owner else livewell.current_user_id() end;
    v_tenants constant text[] := livewell_private.claim_texts('tenant');
    v_tenant constant text := case when v_for_service then p_tenant when cardinality(v_tenants) = 1 then v_tenants[1] end;
begin
    perform livewell_private.require_primary();
    if not v_for_service and (p_owner is distinct from v_owner and p_owner is not null or p_tenant is distinct from v_tenant and p_tenant is not null) then
        raise exception using errcode = 'LWC03', message = 'a user makes subjects of its own, in its own tenant', hint = 'leave owner and tenant out';
    end if;
    if p_subject ~ livewell_private.strange_characters() or v_owner ~ livewell_private.strange_characters() then
        raise exception using errcode = 'LWC03', message = 'a subject and its owner are named by visible characters', hint = 'nothing was made';
    end if;
    insert into livewell_private.subject (id, kind, owner, tenant, created_at) values (p_subject, p_kind, v_owner, v_tenant, p_now);
    perform livewell_private.audit_change('subject_created', 'subject', p_subject, null, jsonb_build_object(
        'kind', p_kind, 'owner', v_owner, 'tenant', v_tenant
    ), null, coalesce(v_owner, session_user), p_now);
    perform livewell_private.tell_rights(jsonb_build_object('user', v_owner));
exception
    when unique_violation then
        raise exception using errcode = 'LWC08', message = format('there is a subject %s already', quote_ident(left(p_subject, 100))),
            hint = 'its id is for one subject: make one that nobody has, as gen_random_uuid()';
    when check_violation or not_null_violation then
        raise exception using errcode = 'LWC03', message = format('the subject cannot be so: %s', sqlerrm),
            hint = 'an id, a kind of small letters, and an owner';
end $$;
