-- What a setting's value must be and is not, in words; null when the value (in its written form) will do.
-- for: internal
create or replace function livewell_private.setting_problem(p_setting livewell_private.setting, p_value text) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
    select case
        when p_value is null then 'it must be ' || case p_setting.type
            when 'boolean' then 'true or false'
            when 'integer' then 'an integer'
            when 'duration' then 'a duration such as ''30 seconds'''
            when 'json' then 'JSON'
            else 'a ' || p_setting.type
        end
        when not p_value = any (p_setting.choices) then 'it must be one of ' || array_to_string(p_setting.choices, ', ')
        when livewell_private.setting_size(p_setting.type, p_value) < livewell_private.setting_size(p_setting.type, p_setting.minimum)
            or livewell_private.setting_size(p_setting.type, p_value) > livewell_private.setting_size(p_setting.type, p_setting.maximum)
            then concat_ws(' and ', 'it must be at least ' || p_setting.minimum, 'at most ' || p_setting.maximum)
        else (
            select case
                when greater.name = p_setting.less_than then format('it must be less than %s (%s)', greater.name, greater.value)
                else format('it must be greater than %s (%s)', greater.name, greater.value)
            end
            from livewell_private.setting greater
            where greater.name = p_setting.less_than
                and livewell_private.setting_size(p_setting.type, p_value) >= livewell_private.setting_size(greater.type, greater.value)
                or greater.less_than = p_setting.name
                and livewell_private.setting_size(p_setting.type, p_value) <= livewell_private.setting_size(greater.type, greater.value)
            order by greater.name
            limit 1
        )
    end
$$;
