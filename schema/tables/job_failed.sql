-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.job_failed partition of livewell_private.job FOR VALUES IN ('failed') partition by RANGE (finished_at);

CREATE INDEX job_failed_id ON ONLY livewell_private.job_failed USING btree (id);
