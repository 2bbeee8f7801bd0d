"""What a consumer of somebody else sees of a topic, by Confluent's Python client: printed as one JSON object."""

import json
import sys
import time

from confluent_kafka import Consumer, KafkaError

PATIENCE_SECONDS = 60

brokers, topic, group = sys.argv[1:]


def member():
    """A member of the group; what it has handled counts only once it says so."""
    consumer = Consumer(
        {
            "bootstrap.servers": brokers,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    consumer.subscribe([topic])
    return consumer


def read_to_end(consumer):
    """All records up to the end of every partition that the member was given."""
    seen, ended = [], set()
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while True:
        given = {each.partition for each in consumer.assignment()}
        if given and given <= ended:
            return seen
        if time.monotonic() > give_up_at:
            raise TimeoutError(f"ended {sorted(ended)} of {sorted(given)}")
        message = consumer.poll(1)
        if message is None:
            continue
        if message.error() is None:
            seen.append(message)
        elif message.error().code() == KafkaError._PARTITION_EOF:
            ended.add(message.partition())
        else:
            raise RuntimeError(message.error())


def shown(message):
    return {
        "partition": message.partition(),
        "offset": message.offset(),
        "key": message.key().decode(),
        "headers": {name: value.decode() for name, value in message.headers()},
        "event": json.loads(message.value())["event"],
    }


first = member()
records = read_to_end(first)
first.commit(asynchronous=False)
first.close()
# Another member goes on where the group has come to.
second = member()
again = read_to_end(second)
second.close()
print(json.dumps({"records": [shown(each) for each in records], "again": len(again)}))
