-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell.job_failed partition of livewell.job FOR VALUES IN ('failed') partition by RANGE (finished_at);

CREATE INDEX job_failed_id ON ONLY livewell.job_failed USING btree (id);
