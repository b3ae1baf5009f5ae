-- Which of some keys a user's function lets whoever asks read. It is asked with the rights of a role that has nothing of Livewell's,
-- and learns who asks from the claims of the request.
-- for: internal
create or replace function livewell_private.ask_read_function(p_function text, p_type text, p_keys text[]) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_answer jsonb;
begin
    if not livewell_private.is_identifier(p_function, true) then
        raise exception using errcode = 'LWC01', message = format('type %s cannot be read: read.function is none', p_type), hint = 'livewell types check';
    end if;
    perform livewell_private.require_foreign('ask_foreign');
    v_answer := livewell_private.ask_foreign(format(
        'select coalesce(jsonb_object_agg(f.key, true), ''{}'') from %I.%I($1 ->> ''type'', $2) as f (key) where f.key is not null',
        split_part(p_function, '.', 1), split_part(p_function, '.', 2)
    ), jsonb_build_object('type', p_type), p_keys);
    return array(select k.key from unnest(p_keys) as k (key) where v_answer ? k.key);
end $$;
