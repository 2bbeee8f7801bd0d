import { KafkaJSNonRetriableError, KafkaJSNumberOfRetriesExceeded, KafkaJSProtocolError } from 'kafkajs';
import { expect, it } from 'vitest';
import { isCoordinatorMoving, isLeaderMoving, toBusUnavailable } from './kafka-failure.ts';

const ofType = (type: string) => {
  const beneath = new KafkaJSProtocolError({
    type,
    code: 0,
    retriable: true,
    name: '',
    message: type,
  } as never);
  return new KafkaJSNumberOfRetriesExceeded(beneath, { retryCount: 5, retryTime: 1 });
};

// The first start of a gateway logged an error for the first group that a broker ever has, though nothing was wrong.
it.each(['GROUP_LOAD_IN_PROGRESS', 'GROUP_COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR_FOR_GROUP'])(
  '%s passes: the coordinator of a group moves',
  (type) => {
    expect([isCoordinatorMoving(ofType(type)), isLeaderMoving(ofType(type))]).toEqual([true, false]);
    expect(toBusUnavailable(ofType(type))).toMatchObject({ code: 'bus_unavailable', retryable: true });
  },
);

it.each(['LEADER_NOT_AVAILABLE', 'NOT_LEADER_FOR_PARTITION', 'GROUP_AUTHORIZATION_FAILED', 'UNKNOWN'])(
  '%s is not an error of a coordinator',
  (type) => {
    expect(isCoordinatorMoving(ofType(type))).toBe(false);
    expect(isCoordinatorMoving(new KafkaJSNonRetriableError(type))).toBe(false);
  },
);
