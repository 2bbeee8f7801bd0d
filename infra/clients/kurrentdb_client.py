"""Reads a store with the Python client of KurrentDB, and prints the result as one JSON object."""

import json
import sys
import threading

from kurrentdbclient import KurrentDBClient, NewEvent, StreamState
from kurrentdbclient.exceptions import NotFoundError, WrongCurrentVersionError

PATIENCE_SECONDS = 30

client = KurrentDBClient(sys.argv[1])


def event(count):
    data = json.dumps({"count": count}).encode()
    return NewEvent(type="Noted", data=data, metadata=b'{"$correlationId":"story"}')


def append(count, expected=StreamState.ANY):
    return client.append_to_stream("story-1", events=[event(count)], current_version=expected)


def raised(expected, work):
    try:
        work()
    except expected:
        return True
    return False


def positions(events):
    return [each.stream_position for each in events if each.stream_name == "story-1"]


def followed(subscribe, until):
    """Reads a subscription up to an event that is appended after all others have arrived."""
    subscription = subscribe()
    overdue = threading.Timer(PATIENCE_SECONDS, subscription.stop)
    overdue.start()
    seen = []
    for each in subscription:
        if each.stream_name != "story-1":
            continue
        seen.append(each.stream_position)
        if each.stream_position == until - 1:
            append(until)
        if each.stream_position == until:
            subscription.stop()
            break
    overdue.cancel()
    return seen


client.append_to_stream(
    "story-1", events=[event(count) for count in range(5)], current_version=StreamState.NO_STREAM
)
client.append_to_stream("story-2", events=[event(0)], current_version=StreamState.ANY)
seen = {
    "conflict": raised(WrongCurrentVersionError, lambda: append(0, StreamState.NO_STREAM)),
    "stream": positions(client.get_stream("story-1")),
    "backwards": positions(client.get_stream("story-1", backwards=True)),
    "part": positions(client.get_stream("story-1", stream_position=2, limit=2)),
    "metadata": json.loads(client.get_stream("story-1")[0].metadata),
    "missing": raised(NotFoundError, lambda: client.get_stream("story-3")),
    "version": client.get_current_version("story-1"),
    "all": positions(client.read_all()),
    "allBackwards": positions(client.read_all(backwards=True)),
    "followedStream": followed(lambda: client.subscribe_to_stream("story-1"), 5),
    "followedFrom": followed(lambda: client.subscribe_to_stream("story-1", stream_position=3), 6),
    "followedAll": followed(lambda: client.subscribe_to_all(), 7),
    "followedType": followed(lambda: client.subscribe_to_all(filter_include=["Noted"]), 8),
}
client.set_stream_metadata("story-1", metadata={"$maxCount": 2}, current_version=StreamState.NO_STREAM)
seen["kept"] = positions(client.get_stream("story-1"))
seen["followedKept"] = followed(lambda: client.subscribe_to_stream("story-1"), 9)
client.close()
print(json.dumps(seen))
