-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell.job_done partition of livewell.job_ended FOR VALUES IN (NULL) partition by RANGE (finished_at);

CREATE INDEX job_done_id ON ONLY livewell.job_done USING btree (id);
