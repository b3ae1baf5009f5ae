-- Refuses a quota that calls in flight could pass: what they may take beyond their estimates must fit in what is kept free.
-- for: internal
create or replace function livewell_private.require_quota_fits(p_provider livewell_private.provider, p_endpoints livewell_private.endpoint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_overrun numeric;
    v_kept numeric;
begin
    if (p_provider).quota_bytes is null then
        return;
    end if;
    v_overrun := livewell_private.quota_overrun((p_provider).name, p_endpoints);
    v_kept := floor((p_provider).quota_bytes * (1 - (p_provider).quota_use::numeric));
    if v_overrun is null then
        perform livewell_private.refuse_declared(
            'LWB03', 'provider', (p_provider).name, 'it has a quota, and nothing limits how many calls may be in flight',
            'set concurrent of its endpoints, or of the account'
        );
    elsif v_overrun > v_kept then
        perform livewell_private.refuse_declared(
            'LWB03', 'provider', (p_provider).name,
            format(
                'calls in flight could take %s bytes more than expected, and quota_use keeps only %s free',
                trunc(v_overrun), v_kept
            ),
            'lower concurrent, max_bytes or quota_use, or expect the cap: expected_bytes = max_bytes'
        );
    end if;
end $$;
