import { WrongExpectedVersionError } from '@eventstore/db-client';
import { isRetryable, type Clock } from '@tollgate/service-kit';
import { notShown, storeInTime } from '../errors.ts';
import type { SerializedEvent } from '../append-arguments.ts';
import type { Appended, Conflict, ExpectedRevision, Position, Revision } from '../event-store.ts';
import type { Link } from './connection.ts';
import { isKnown, toPosition } from './position.ts';
import type { Reads } from './reading.ts';
import { toEventData } from './recorded-event.ts';
import { fromClientError } from './store-failure.ts';

/** Number of tries of an append with an unknown outcome, and pauses between them, milliseconds. */
export const appendTriesMax = 4;
const pausesMs = [50, 250, 1_000] as const;

/** How long the events of a conflict are waited for, and how often they are read, milliseconds. */
const conflictShownWithinMs = 2_000;
const conflictLookPauseMs = 10;

/** `position` is undefined if the server did not return it. */
type Answer = { kind: 'appended'; revision: Revision; position: Position | undefined } | Conflict;

export type Append = ReturnType<typeof createAppend>;

export interface AppenderOptions {
  link: Link;
  clock: Clock;
  /** Maximum duration of one try. @unit milliseconds */
  appendTryMs: number;
  /** At most one event of a stream. */
  readFirst: Reads['first'];
}

/**
 * Sends the same events with the same expectation until the outcome is known. A conflict is returned once its events can be
 * read. If they cannot within 2 seconds, the outcome is unknown. For a repeated append the server returns the first one's
 * revision, and its position only while the events exist. If `keepLast` has trimmed them, the answer is a conflict, as from the
 * embedded store.
 *
 * @throws StoreUnavailable if it is still unknown after 4 tries
 */
export const createAppend =
  (options: AppenderOptions) =>
  async (
    stream: string,
    events: readonly SerializedEvent[],
    expected: ExpectedRevision,
  ): Promise<Appended | Conflict> => {
    const { clock, readFirst } = options;
    const answer = await untilConfirmed(clock, async () => {
      const sent = await orConflict(appendOnce(options, { stream, events, expected }));
      if (sent.kind === 'conflict') await untilShown(options, stream, { ...sent, expected });
      return sent;
    });
    if (answer.kind === 'conflict') return answer;
    const { revision } = answer;
    if (answer.position !== undefined) return { kind: 'appended', revision, position: answer.position };
    const event = await readFirst(stream, { from: revision });
    if (event?.revision === revision) return { kind: 'appended', revision, position: event.position };
    const last = await readFirst(stream, { direction: 'backwards' });
    return { kind: 'conflict', actual: last?.revision ?? revision };
  };

/** Tries again while the outcome is unknown. @throws StoreUnavailable when it is still unknown after 4 tries */
async function untilConfirmed<Result>(clock: Clock, attempt: () => Promise<Result>): Promise<Result> {
  for (let tryNumber = 1; ; tryNumber += 1) {
    try {
      return await attempt();
    } catch (error) {
      const failure = fromClientError(error);
      if (!isRetryable(failure) || tryNumber >= appendTriesMax) throw failure;
    }
    await clock.sleep(pausesMs[tryNumber - 1] ?? 0);
  }
}

interface Sending {
  stream: string;
  events: readonly SerializedEvent[];
  expected: ExpectedRevision;
}

async function appendOnce(
  { link, clock, appendTryMs }: AppenderOptions,
  { stream, events, expected }: Sending,
): Promise<Answer> {
  const sending = link.client.appendToStream(stream, events.map(toEventData), {
    expectedRevision: toExpectedRevision(expected),
    credentials: link.appendCredentials,
    requiresLeader: true,
    deadline: appendTryMs,
  });
  const { nextExpectedRevision, position } = await storeInTime(clock, appendTryMs, sending);
  return {
    kind: 'appended',
    revision: Number(nextExpectedRevision),
    position: isKnown(position) ? toPosition(position) : undefined,
  };
}

async function orConflict(appending: Promise<Answer>): Promise<Answer> {
  try {
    return await appending;
  } catch (error) {
    if (!(error instanceof WrongExpectedVersionError)) throw error;
    return { kind: 'conflict', actual: toActual(error.actualVersion) };
  }
}

/**
 * The server reports a conflict as soon as it has the other events, and shows them once a quorum has them. A leader that is cut
 * off never reaches one, and may still lose them. If nothing is expected, nothing can conflict: a conflict only means that an
 * earlier try of the same events is unconfirmed.
 *
 * @throws StoreUnavailable if they are not shown in time: nothing is known of the append
 */
async function untilShown(
  { clock, readFirst }: AppenderOptions,
  stream: string,
  { actual, expected }: Conflict & { expected: ExpectedRevision },
): Promise<void> {
  if (expected === 'any') throw notShown(stream);
  if (actual === 'no-stream') return;
  const startedAt = clock.monotonic();
  for (;;) {
    const shown = (await readFirst(stream, { direction: 'backwards' }))?.revision ?? -1;
    if (shown >= actual) return;
    if (clock.monotonic() - startedAt >= conflictShownWithinMs) throw notShown(stream);
    await clock.sleep(conflictLookPauseMs);
  }
}

function toExpectedRevision(expected: ExpectedRevision): bigint | 'no_stream' | 'any' {
  if (expected === 'any') return 'any';
  return expected === 'no-stream' ? 'no_stream' : BigInt(expected);
}

/** Some servers report -1 for a stream that does not exist, as an unsigned number or not. */
function toActual(actual: bigint | 'no_stream'): Conflict['actual'] {
  const isRevision = typeof actual === 'bigint' && actual >= 0n && actual <= Number.MAX_SAFE_INTEGER;
  return isRevision ? Number(actual) : 'no-stream';
}
