-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.require_quota_fits(p_provider livewell.provider, p_endpoints livewell.endpoint[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_overrun numeric;
    v_kept numeric;
begin
    if (p_provider).quota_bytes is null then
        return;
    end if;
    v_overrun := livewell.quota_overrun((p_provider).name, p_endpoints);
    v_kept := floor((p_provider).quota_bytes * (1 - (p_provider).quota_use::numeric));
    if v_overrun is null then
        perform livewell.refuse_declared(
            'LWB03', 'provider', (p_provider).name, 'it has a quota, and nothing limits how many calls may be in flight',
            'set concurrent of its endpoints, or of the account'
        );
    elsif v_overrun > v_kept then
        perform livewell.refuse_declared(
            'LWB03', 'provider', (p_provider).name,
            format(
                'calls in flight could take %s bytes more than expected, and quota_use keeps only %s free',
                trunc(v_overrun), v_kept
            ),
            'lower concurrent, max_bytes or quota_use, or expect the cap: expected_bytes = max_bytes'
        );
    end if;
end $function$;
