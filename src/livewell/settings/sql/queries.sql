-- name: get_settings
-- Every setting as it is, sensitive ones in clear, in one round trip.
select name, type, value, duration, sensitive from livewell.get_settings()

-- name: list_settings
-- Every setting for people to read, sensitive values masked.
select
    name, type, value, default_value, is_default, minimum, maximum, less_than, choices, description, sensitive,
    updated_at, updated_by
from livewell.settings
order by name

-- name: set_setting
-- Change one setting; false when it already was so.
select livewell.set_setting($1, $2, $3, $4)

-- name: reset_setting
-- Set one setting back to the value it was shipped with; false when it already was so.
select livewell.reset_setting($1, $2, $3)
