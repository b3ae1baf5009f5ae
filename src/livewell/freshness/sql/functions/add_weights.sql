-- Two histograms as one; the shorter is as if it ended in zeros.
-- for: internal
create or replace function livewell_private.add_weights(p_one double precision[], p_other double precision[]) returns double precision[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
begin
    return array(
        select coalesce(w.one, 0) + coalesce(w.other, 0) from unnest(p_one, p_other) with ordinality as w (one, other, at) order by w.at
    );
end $$;
