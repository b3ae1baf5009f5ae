-- It is what a reschedule without a delay of its own waits.
update livewell_private.setting
set description = 'How long a job waits that was rescheduled without a delay of its own, as for want of capacity.'
where name = 'queue.backpressure_delay';
