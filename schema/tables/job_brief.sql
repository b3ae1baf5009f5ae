-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.job_brief partition of livewell_private.job_ended FOR VALUES IN (true) partition by RANGE (finished_at);

CREATE INDEX job_brief_id ON ONLY livewell_private.job_brief USING btree (id);
