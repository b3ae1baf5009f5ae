-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.claim_choice as (looked_at tid[], passed tid[], jobs livewell_private.chosen_job[], spending livewell_private.spending[], headroom livewell_private.headroom);
