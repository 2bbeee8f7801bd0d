/** Applies callbacks. A callback is a hint and proves nothing: its subject is inquired, and the answer is recorded. */
import {
  type DecodedCallback,
  decodeCallbackRecord,
  providerCallbacksTopic,
  tokenLengthMax,
} from '@tollgate/gateway-api';
import type { BusRecord, MessageBus } from '@tollgate/message-bus';
import type { CallbackHint, Cause, InquiryResult } from '@tollgate/core';
import {
  type Clock,
  type Ids,
  type Log,
  omitUndefined,
  inCause,
  isRequestId,
  isRetryable,
} from '@tollgate/service-kit';

/** The consumer group of the command service. */
const callbackGroup = 'command-service';

export interface CallbackConsumerDependencies {
  bus: Pick<MessageBus, 'subscribe'>;
  readCallback: (body: Readonly<Record<string, unknown>>) => CallbackHint;
  inquire: (token: string, cause: Cause) => Promise<InquiryResult>;
  /** Inquires the token that a callback names, if it differs from our subject's. */
  inquireNamed: (token: string, serviceToken: string, cause: Cause) => Promise<InquiryResult>;
  /** A dispute has changed: reads the list of disputes at once. */
  nudgeDisputes: () => void;
  /** Records that the callback waits for an inquiry; the inquiry schedule takes over. */
  defer: (callback: DeferredCallback, cause: Cause) => Promise<void>;
  clock: Clock;
  ids: Ids;
  log: Log;
}

export interface DeferredCallback {
  /** Token of our payment or payout. */
  token: string;
  /** The provider's token in the callback. */
  serviceToken?: string;
}

interface Callback {
  token: string;
  hint: CallbackHint;
}

/** Maximum wait of a batch for the callbacks of an account that hangs; then they are deferred. @unit milliseconds */
const batchMaxMs = 3_000;

/** Runs until the signal is aborted and the inquiries that no batch waited for have ended. */
export async function consumeCallbacks(
  deps: CallbackConsumerDependencies,
  signal: AbortSignal,
): Promise<void> {
  const subscription = { group: callbackGroup, topics: [providerCallbacksTopic], signal };
  const inquiries = new Set<Promise<unknown>>();
  try {
    await deps.bus.subscribe(subscription, (batch) => applyBatch(deps, { batch, inquiries, signal }));
  } finally {
    await Promise.all(inquiries);
  }
}

async function applyBatch(
  deps: CallbackConsumerDependencies,
  {
    batch,
    inquiries,
    signal,
  }: { batch: readonly BusRecord[]; inquiries: Set<Promise<unknown>>; signal: AbortSignal },
): Promise<void> {
  const done = new AbortController();
  const over = deps.clock.sleep(batchMaxMs, done.signal).then(
    () => 'over' as const,
    () => 'over' as const,
  );
  const inquireInTime: InquireInTime = (callback, cause) => {
    const inquiring = inquireSafely(deps, callback, cause).finally(() => inquiries.delete(inquiring));
    inquiries.add(inquiring);
    return Promise.race([inquiring, over]);
  };
  // One hint of a burst about the same payment is enough.
  const decoded = batch.map((record) => ({ record, callback: decodeCallbackRecord(record) }));
  const distinct = new Map(decoded.map((each) => [keyOf(deps, each), each]));
  try {
    await Promise.all([...distinct.values()].map((each) => apply(deps, each, inquireInTime, signal)));
  } finally {
    done.abort();
  }
}

interface Received {
  record: BusRecord;
  callback: DecodedCallback;
}

const placeOf = ({ topic, partition, offset }: BusRecord): string => `${topic}/${partition}/${offset}`;

/** Equal for equal hints. Records that are not callbacks are all different. */
function keyOf({ readCallback }: CallbackConsumerDependencies, { record, callback }: Received): string {
  if (callback.kind === 'unreadable') return `${record.partition}/${record.offset}`;
  const { about, serviceToken, status } = readCallback(callback.body);
  return JSON.stringify([callback.token, about, serviceToken, ...(about === 'payment' ? [] : [status])]);
}

/** Never rejects. `over`: the batch no longer waits; the inquiry continues. */
type InquireInTime = (callback: Callback, cause: Cause) => Promise<InquiryResult | 'over'>;

/** Rejects only if the callback can be neither applied nor deferred now; then the batch is delivered again. */
async function apply(
  deps: CallbackConsumerDependencies,
  { record, callback: decoded }: Received,
  inquireInTime: InquireInTime,
  signal: AbortSignal,
): Promise<void> {
  if (decoded.kind === 'unreadable') {
    skip(deps, record, decoded.reason);
    return;
  }
  const callback = { token: decoded.token, hint: deps.readCallback(decoded.body) };
  const correlationId = isRequestId(decoded.requestId) ? decoded.requestId : deps.ids.uuid();
  const causationId = placeOf(record);
  const cause: Cause = { correlationId, causationId, actor: { kind: 'service', name: 'command-service' } };
  await inCause(correlationId, () => applyReadable(deps, { record, callback, cause }, inquireInTime, signal));
}

async function applyReadable(
  deps: CallbackConsumerDependencies,
  { record, callback, cause }: { record: BusRecord; callback: Callback; cause: Cause },
  inquireInTime: InquireInTime,
  signal: AbortSignal,
): Promise<void> {
  if (callback.hint.about === 'dispute') deps.nudgeDisputes();
  const result = await inquireInTime(callback, cause);
  // While the creation's answer is awaited, the schedule inquires the payment, even after a crash.
  if (result === 'inquired' || result === 'awaiting-answer') return;
  if (result === 'nothing-there') {
    skip(deps, record, 'there is no such payment or payout');
    return;
  }
  if (signal.aborted) throw new Error('stopped before the callback was applied');
  const serviceToken = namedBy(callback.hint);
  try {
    await deps.defer({ token: callback.token, ...omitUndefined({ serviceToken }) }, cause);
  } catch (error) {
    // A callback that can never be recorded must not stop its partition.
    if (isRetryable(error)) throw error;
    skip(deps, record, 'it cannot be recorded', error);
  }
}

/** The provider's token of the payment or payout, if the callback names one. */
const namedBy = ({ about, serviceToken }: CallbackHint): string | undefined =>
  about === 'payment' || about === 'payout' ? serviceToken : undefined;

async function inquireSafely(
  deps: CallbackConsumerDependencies,
  { token, hint }: Callback,
  cause: Cause,
): Promise<InquiryResult> {
  try {
    const result = await deps.inquire(token, cause);
    const serviceToken = namedBy(hint);
    const isOurs = result === 'inquired' || result === 'awaiting-answer';
    if (!isOurs || serviceToken === undefined) return result;
    // Even while an answer is awaited: the callback may be about an earlier attempt, which nothing else inquires.
    const named = await deps.inquireNamed(token, serviceToken, cause);
    return named === 'failed' || named === 'not-asked' ? named : result;
  } catch (error) {
    deps.log.error({ error, token, operation: 'callback' }, 'an inquiry failed');
    return 'failed';
  }
}

/** It changes nothing: the schedule inquires every payment and payout without callbacks. */
function skip(
  { log }: CallbackConsumerDependencies,
  record: BusRecord,
  reason: string,
  error?: unknown,
): void {
  const fields = { token: record.key.slice(0, tokenLengthMax), position: placeOf(record), error };
  log.warn(
    { ...fields, operation: 'callback', outcome: 'skipped' },
    `a callback was skipped, because ${reason}`,
  );
}
