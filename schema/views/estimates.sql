-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- What calls cost, by endpoint and subject: the mean, and the upper estimate that is reserved; wider while samples are few.
-- for: service
create view livewell.estimates as
select
    e.endpoint, e.subject, e.samples, e.bytes_mean, e.tokens_mean, e.over_twice, e.over_twice_at, e.updated_at,
    least(p.max_bytes, ceil(greatest(e.bytes_mean + 4 * e.bytes_spread, e.bytes_mean * (1 + 1.0 / greatest(e.samples, 1)))))::bigint
        as bytes_upper,
    least(p.max_tokens, ceil(greatest(e.tokens_mean + 4 * e.tokens_spread, e.tokens_mean * (1 + 1.0 / greatest(e.samples, 1)))))::bigint
        as tokens_upper
from livewell_private.estimate as e
join livewell_private.endpoint as p on p.name = e.endpoint;

-- columns:
--   endpoint text
--   subject text
--   samples bigint
--   bytes_mean double precision
--   tokens_mean double precision
--   over_twice bigint
--   over_twice_at timestamp with time zone
--   updated_at timestamp with time zone
--   bytes_upper bigint
--   tokens_upper bigint

grant select on table livewell.estimates to livewell_service;
