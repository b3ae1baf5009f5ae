-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE TRIGGER audit_entry_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON livewell_private.audit_entry FOR EACH STATEMENT EXECUTE FUNCTION livewell_private.refuse_audit_change();
ALTER TABLE livewell_private.audit_entry ENABLE ALWAYS TRIGGER audit_entry_is_append_only;
