"""What attacks from outside the room look at inside it: every way commands print."""

from livewell.cli.live_view import PlainView
from livewell.cli.output import alarm, console, note, say, show_json, show_record, show_table
from livewell.cli.picture import draw

__all__ = ["PlainView", "alarm", "console", "draw", "note", "say", "show_json", "show_record", "show_table"]
