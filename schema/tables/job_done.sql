-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.job_done partition of livewell_private.job_ended FOR VALUES IN (NULL) partition by RANGE (finished_at);

CREATE INDEX job_done_id ON ONLY livewell_private.job_done USING btree (id);
