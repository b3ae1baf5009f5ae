-- Why a pattern of keys could take long to match, or match what it does not seem to; null when it cannot. It is read from
-- left to right by what it may have, so that what is not understood is refused: no references back, no looking around, no
-- repetition that begins with one, and not larger than a thousand when its repetitions are written out.
-- for: internal
create or replace function livewell_private.pattern_problem(p_pattern text) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
declare
    v_token constant text := '^(\\[^[:alnum:]]|\\[dwsDWS]|\[\^?\]?([^]\\[]|\\[^[:alnum:]]|\\[dws]|\[:[a-z]+:\])+\]|\(\?:|[(]|[)]|[|]'
        '|[*+?]\??|\{[0-9]{1,3}(,([0-9]{1,3})?)?\}\??|[.]|[^][(){}*+?|\\^$])';
    v_rest text := substr(p_pattern, 2, length(p_pattern) - 2);
    v_said text;
    v_times integer[];
    v_most integer;
    -- Per open parenthesis: how large it is, whether its next part is its first, whether one begins with a repetition.
    v_size integer[] := array[0];
    v_begins boolean[] := array[true];
    v_loose boolean[] := array[false];
    v_depth integer := 1;
    -- The part before: its size, 0 when it cannot be repeated; whether it is a first, and begins with a repetition.
    v_last integer := 0;
    v_last_begins boolean := false;
    v_last_loose boolean := false;
begin
    if length(p_pattern) > 500 then
        return 'is longer than 500 characters';
    end if;
    while v_rest <> '' loop
        v_said := (regexp_match(v_rest, v_token))[1];
        if v_said is null then
            return format('has %L, which is not taken: no references back, no looking around, ^ and $ only at its ends', left(v_rest, 10));
        end if;
        v_rest := substr(v_rest, length(v_said) + 1);
        if v_said in ('(', '(?:') then
            v_depth := v_depth + 1;
            v_size[v_depth] := 0;
            v_begins[v_depth] := true;
            v_loose[v_depth] := false;
            v_last := 0;
        elsif v_said = ')' then
            if v_depth = 1 then
                return 'has a ) without its (';
            end if;
            v_last := v_size[v_depth];
            v_last_loose := v_loose[v_depth];
            v_depth := v_depth - 1;
            v_size[v_depth] := v_size[v_depth] + v_last;
            v_last_begins := v_begins[v_depth];
            v_loose[v_depth] := v_loose[v_depth] or v_last_begins and v_last_loose;
            v_begins[v_depth] := false;
        elsif v_said = '|' then
            if v_depth = 1 then
                return 'has alternatives that are not in parentheses: each of them would be bound at one end only';
            end if;
            v_begins[v_depth] := true;
            v_last := 0;
        elsif v_said ~ '^[*+?{]' then
            v_times := string_to_array(nullif(substring(v_said from '[0-9][0-9,]*'), ''), ',', '')::integer[];
            v_most := case left(v_said, 1) when '?' then 1 when '*' then 2 when '+' then 2
                else coalesce(v_times[cardinality(v_times)], v_times[1] + 1) end;
            if v_last = 0 then
                return 'repeats nothing';
            elsif v_last_loose and v_most > 1 then
                return 'repeats what begins with a repetition: begin the inner part with what is there once, as in (-[a-z]+)*';
            end if;
            v_size[v_depth] := v_size[v_depth] + v_last * greatest(v_most - 1, 0);
            v_loose[v_depth] := v_loose[v_depth] or v_last_begins;
            v_last := 0;
        else
            v_last := 1;
            v_size[v_depth] := v_size[v_depth] + 1;
            v_last_begins := v_begins[v_depth];
            v_last_loose := false;
            v_begins[v_depth] := false;
        end if;
        if v_size[v_depth] > 1000 then
            return 'is too large: its repetitions come to more than 1,000';
        end if;
    end loop;
    return case when v_depth > 1 then 'has a ( without its )' end;
end $$;
