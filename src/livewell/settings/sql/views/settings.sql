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
