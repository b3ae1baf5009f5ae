-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE TRIGGER refreshes_were_buried AFTER INSERT ON livewell_private.job_failed REFERENCING NEW TABLE AS dead FOR EACH STATEMENT EXECUTE FUNCTION livewell_private.refreshes_failed();
