-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create sequence livewell_private.bundle_seq as bigint start 1 increment 1 minvalue 1 maxvalue 9223372036854775807 cache 1;
