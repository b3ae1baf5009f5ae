-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE TRIGGER audit_entry_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON livewell.audit_entry FOR EACH STATEMENT EXECUTE FUNCTION livewell.refuse_audit_change();
ALTER TABLE livewell.audit_entry ENABLE ALWAYS TRIGGER audit_entry_is_append_only;
