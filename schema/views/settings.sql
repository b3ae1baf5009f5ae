-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Every setting for people to read: what it is, may be and means; sensitive values masked.
-- for: service
create or replace view livewell.settings as
select
    s.name,
    s.type,
    case when s.sensitive then '•••' else s.value end as value,
    case when s.sensitive then '•••' else s.default_value end as default_value,
    s.value = s.default_value as is_default,
    s.minimum,
    s.maximum,
    s.less_than,
    s.choices,
    s.description,
    s.sensitive,
    s.updated_at,
    s.updated_by
from livewell_private.setting s;

-- columns:
--   name text
--   type text
--   value text
--   default_value text
--   is_default boolean
--   minimum text
--   maximum text
--   less_than text
--   choices text[]
--   description text
--   sensitive boolean
--   updated_at timestamp with time zone
--   updated_by text

grant select on table livewell.settings to livewell_service;
