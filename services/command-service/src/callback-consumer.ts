/** Applies the Payment Service's callbacks. A callback is a hint and proves nothing: what it is about is retrieved, and what that says is recorded. */
import {
  type DecodedCallback,
  decodeCallbackRecord,
  encodeDeadLetter,
  providerCallbacksTopic,
  providerCallbacksDlqTopic,
} from '@tollgate/gateway-events';
import type { BusRecord, MessageBus } from '@tollgate/message-bus';
import { type Clock, type Ids, type Log, TollgateError, given } from '@tollgate/service-kit';
import type { InquiryResult } from './inquiries/inquiry-result.ts';
import type { Cause } from './streams/repository.ts';

export interface CallbackConsumerDependencies {
  bus: MessageBus;
  inquire: (token: string, cause: Cause) => Promise<InquiryResult>;
  inquireForSecond: (token: string, serviceToken: string, cause: Cause) => Promise<InquiryResult>;
  /** The one word that no look can confirm: the service has declined a refund that it had accepted under this token of its. */
  recordRefundDeclined: (token: string, serviceRefundToken: string, cause: Cause) => Promise<void>;
  /** A dispute has changed: the list of disputes is read without delay. */
  nudgeDisputes: () => void;
  /** Puts the payment or payout back on the schedule of looks, and before a person. */
  noteUnapplied: (unapplied: UnappliedCallback, cause: Cause) => Promise<void>;
  clock: Clock;
  ids: Ids;
  log: Log;
}

export interface UnappliedCallback {
  /** Of our payment or payout. */
  token: string;
  reason: string;
  /** The service's token that the callback names and that nobody has been told about. */
  serviceToken?: string;
}

type Callback = Extract<DecodedCallback, { kind: 'callback' }>;

/** Looks for one callback before it is dead-lettered, and the pause before the second one, milliseconds; doubled each time. */
const triesMax = 4;
const firstPauseMs = 250;
/** How long the other callbacks of a batch wait for those of an account that hangs, milliseconds. */
const batchMaxMs = 30_000;

/** Runs until the signal is aborted, and until the looks that no batch waited for have ended. */
export async function consumeCallbacks(
  deps: CallbackConsumerDependencies,
  signal: AbortSignal,
): Promise<void> {
  const subscription = { group: 'command-service', topics: [providerCallbacksTopic], signal };
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
  const inquireInTime: InquiryInTime = (callback, cause) => {
    const inquiring = inquireSafely(deps, callback, cause).finally(() => inquiries.delete(inquiring));
    inquiries.add(inquiring);
    return Promise.race([inquiring, over]);
  };
  // Of a burst of hints about the same payment, one is enough.
  const hints = new Map(batch.map((record) => [hintOf(record), record]));
  try {
    await Promise.all([...hints.values()].map((record) => apply(deps, { record, inquireInTime, signal })));
  } finally {
    done.abort();
  }
}

/** Never rejects. `over`: the batch waits no longer; the look goes on. */
type InquiryInTime = (callback: Callback, cause: Cause) => Promise<InquiryResult | 'over'>;

/** Rejects only where the record can be neither applied nor dead-lettered: then the batch comes again. */
async function apply(
  deps: CallbackConsumerDependencies,
  { record, inquireInTime, signal }: { record: BusRecord; inquireInTime: InquiryInTime; signal: AbortSignal },
): Promise<void> {
  const callback = decodeCallbackRecord(record);
  if (callback.kind === 'unreadable') return deadLetter(deps, record, callback.reason);
  const correlationId = deps.ids.uuid();
  const causationId = `${record.topic}/${record.partition}/${record.offset}`;
  const cause: Cause = { correlationId, causationId, actor: { kind: 'service', name: 'command-service' } };
  for (let tries = 1; tries <= triesMax && !signal.aborted; tries += 1) {
    const result = await inquireInTime(callback, cause);
    // While the creation's answer is awaited the payment is open work: the follow-up looks at it, also after a crash.
    if (result === 'inquired' || result === 'awaiting-answer') return;
    if (result === 'nothing-there') return deadLetter(deps, record, 'no such payment or payout');
    if (result === 'over') break;
    if (tries < triesMax) await deps.clock.sleep(firstPauseMs * 2 ** tries, signal).catch(() => undefined);
  }
  if (signal.aborted) throw new Error('stopped before the callback was applied');
  const reason = `no usable answer of the Payment Service in ${triesMax} looks`;
  // Noted before it is dead-lettered: from here on the payment is looked at until the service answers.
  await note(deps, callback, reason, cause);
  return deadLetter(deps, record, reason);
}

/** What can never be noted must not stop its partition: it is dead-lettered like the rest. */
async function note(
  deps: CallbackConsumerDependencies,
  callback: Callback,
  reason: string,
  cause: Cause,
): Promise<void> {
  const { token } = callback;
  try {
    await deps.noteUnapplied({ token, reason, ...given({ serviceToken: namedByService(callback) }) }, cause);
  } catch (error) {
    if (error instanceof TollgateError && error.retryable) throw error;
    deps.log.error({ error, token, operation: 'callback' }, 'a callback can be neither applied nor noted');
  }
}

/** What a callback hints at: our payment, and the service's payment that it names. What is no callback is like no other. */
function hintOf(record: BusRecord): string {
  const callback = decodeCallbackRecord(record);
  if (callback.kind === 'unreadable') return `${record.partition}/${record.offset}`;
  const { type = 'payment', status, token } = callback.body;
  const word = type === 'payment' || type === 'pay' ? '' : JSON.stringify([type, status, token]);
  return `${callback.token} ${namedByService(callback) ?? ''} ${word}`;
}

/** The service's token of the payment or payout that a callback is about, as far as it says. */
function namedByService({ body }: Callback): string | undefined {
  const { token, type = 'payment' } = body;
  return typeof token === 'string' && namingTypes.includes(type) ? token : undefined;
}

const namingTypes: readonly unknown[] = ['payment', 'pay', 'payout'];

async function inquireSafely(
  deps: CallbackConsumerDependencies,
  callback: Callback,
  cause: Cause,
): Promise<InquiryResult> {
  const { token } = callback;
  try {
    await applyWords(deps, callback, cause);
    const result = await deps.inquire(token, cause);
    const serviceToken = namedByService(callback);
    const isOurs = result === 'inquired' || result === 'awaiting-answer';
    if (!isOurs || serviceToken === undefined) return result;
    // Also while an answer is awaited: the callback may be about an earlier attempt, which nobody else will look for.
    const second = await deps.inquireForSecond(token, serviceToken, cause);
    return second === 'failed' ? second : result;
  } catch (error) {
    deps.log.error({ error, token, operation: 'callback' }, 'a look failed');
    return 'failed';
  }
}

async function applyWords(
  deps: CallbackConsumerDependencies,
  { token, body }: Callback,
  cause: Cause,
): Promise<void> {
  if (body['type'] === 'dispute') deps.nudgeDisputes();
  const { type, status, token: serviceRefundToken } = body;
  if (type === 'refund' && status === 'declined' && typeof serviceRefundToken === 'string')
    await deps.recordRefundDeclined(token, serviceRefundToken, cause);
}

async function deadLetter(
  deps: CallbackConsumerDependencies,
  record: BusRecord,
  reason: string,
): Promise<void> {
  const deadLetter = encodeDeadLetter(record, reason);
  deps.log.warn(
    { token: deadLetter.key, topic: record.topic, operation: 'callback', outcome: 'dead-lettered' },
    'a callback was dead-lettered',
  );
  await deps.bus.publish(providerCallbacksDlqTopic, [deadLetter]);
}
