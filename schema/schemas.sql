-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create schema livewell;
grant usage on schema livewell to livewell_anon;
grant usage on schema livewell to livewell_service;
grant usage on schema livewell to livewell_user;
create schema livewell_private;
