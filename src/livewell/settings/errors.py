"""What can be wrong with a setting."""

from livewell.kernel import LivewellError


class UnknownSetting(LivewellError):
    """There is no setting of that name, or not of that type; nothing was read or changed."""

    code = "settings.unknown"
    sqlstate = "LWS01"


class InvalidSettingValue(LivewellError):
    """The value does not fit the setting's type, bounds, choices, or what it is compared with; nothing changed."""

    code = "settings.invalid_value"
    sqlstate = "LWS02"
