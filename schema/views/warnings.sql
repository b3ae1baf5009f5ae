-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Warnings by hour, code and subject, those that are not rolled up yet among them, the newest hours first when ordered by hour.
-- for: service
create view livewell.warnings as
select
    w.hour, w.code, w.subject, sum(w.warnings)::bigint as warnings,
    (array_agg(w.message order by w.last_at desc, w.place desc))[1] as message, min(w.first_at) as first_at, max(w.last_at) as last_at
from (
    select w.hour, w.code, w.subject, w.warnings, w.message, w.first_at, w.last_at, 0 as place
    from livewell_private.warning as w
    union all
    select date_trunc('hour', f.warned_at, 'UTC'), f.code, f.subject, f.warnings, f.message, f.warned_at, f.warned_at, f.id
    from livewell_private.fresh_warning as f
) as w
group by w.hour, w.code, w.subject;

-- columns:
--   hour timestamp with time zone
--   code text
--   subject text
--   warnings bigint
--   message text
--   first_at timestamp with time zone
--   last_at timestamp with time zone

grant select on table livewell.warnings to livewell_service;
