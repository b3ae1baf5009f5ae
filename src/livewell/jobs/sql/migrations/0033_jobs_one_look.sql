-- What a claim learns in its one look: the lease when all lanes have the same, and whether serial keys must be asked.
alter type livewell_private.claim_view add attribute lease interval, add attribute has_serial_keys boolean;
