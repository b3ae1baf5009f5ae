-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.share (
    subject text collate C not null,
    user_id text collate C not null,
    rights text not null,
    shared_by text not null,
    since timestamp with time zone not null default clock_timestamp(),
    constraint share_is_of_a_subject FOREIGN KEY (subject) REFERENCES livewell_private.subject(id) ON DELETE CASCADE,
    constraint share_is_with_a_user CHECK (((length(user_id) >= 1) AND (length(user_id) <= 200))),
    constraint share_pkey PRIMARY KEY (subject, user_id),
    constraint share_rights_are_known CHECK ((rights = ANY (ARRAY['read'::text, 'write'::text])))
);

CREATE INDEX share_user ON livewell_private.share USING btree (user_id);
