-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE TRIGGER refreshes_have_failed AFTER INSERT ON livewell_private.job_failed REFERENCING NEW TABLE AS failed FOR EACH STATEMENT EXECUTE FUNCTION livewell_private.failed_refreshes_ended();
