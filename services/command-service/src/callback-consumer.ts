/** Applies the Payment Service's callbacks. A callback is a hint and proves nothing: the payment is retrieved, and what that says is recorded. */
import {
  type DecodedCallback,
  decodeCallbackRecord,
  providerCallbacksTopic,
  providerCallbacksDlqTopic,
} from '@tollgate/gateway-events';
import type { BusRecord, MessageBus } from '@tollgate/message-bus';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import type { LookResult } from './look.ts';
import type { Cause } from './payments.ts';

export interface CallbackConsumerDependencies {
  bus: MessageBus;
  look: (token: string, cause: Cause) => Promise<LookResult>;
  lookForSecondPayment: (token: string, serviceToken: string, cause: Cause) => Promise<LookResult>;
  /** Puts the payment back on the schedule of looks, and before a person. */
  noteUnapplied: (token: string, reason: string, cause: Cause) => Promise<void>;
  clock: Clock;
  ids: Ids;
  log: Log;
}

type Callback = Extract<DecodedCallback, { kind: 'callback' }>;

/** Looks for one callback before it is parked, and the pause before the second one, milliseconds; doubled each time. */
const triesMax = 4;
const firstPauseMs = 250;

/** Runs until the signal is aborted. */
export async function consumeCallbacks(
  deps: CallbackConsumerDependencies,
  signal: AbortSignal,
): Promise<void> {
  const subscription = { group: 'command-service', topics: [providerCallbacksTopic], signal };
  await deps.bus.subscribe(subscription, async (batch) => {
    // Of a burst of hints about the same payment, one is enough.
    const hints = new Map(batch.map((record) => [hintOf(record), record]));
    await Promise.all([...hints.values()].map((record) => apply(deps, record, signal)));
  });
}

/** Rejects only when the bus cannot take a record that has to be parked: then the batch comes again. */
async function apply(
  deps: CallbackConsumerDependencies,
  record: BusRecord,
  signal: AbortSignal,
): Promise<void> {
  const callback = decodeCallbackRecord(record);
  if (callback.kind === 'unreadable') return park(deps, record, callback.reason);
  const correlationId = deps.ids.uuid();
  const causationId = `${record.topic}/${record.partition}/${record.offset}`;
  const cause: Cause = { correlationId, causationId, actor: { kind: 'service', name: 'command-service' } };
  for (let tries = 1; tries <= triesMax && !signal.aborted; tries += 1) {
    const result = await lookSafely(deps, callback, cause);
    // While the creation's answer is awaited the payment is open work: the follow-up looks at it, also after a crash.
    if (result === 'looked' || result === 'awaiting-answer') return;
    if (result === 'no-payment') return park(deps, record, 'no such payment');
    if (tries < triesMax) await deps.clock.sleep(firstPauseMs * 2 ** tries, signal).catch(() => undefined);
  }
  if (signal.aborted) throw new Error('stopped before the callback was applied');
  const reason = `no usable answer of the Payment Service in ${triesMax} looks`;
  // Noted before it is parked: from here on the payment is looked at until the service answers.
  await deps.noteUnapplied(callback.token, reason, cause);
  return park(deps, record, reason);
}

/** What a callback hints at: our payment, and the service's payment that it names. What is no callback is like no other. */
function hintOf(record: BusRecord): string {
  const callback = decodeCallbackRecord(record);
  if (callback.kind === 'unreadable') return `${record.partition}/${record.offset}`;
  return `${callback.token} ${namedPayment(callback) ?? ''}`;
}

/** The service's token of the payment that a callback is about, as far as it says. */
function namedPayment({ body }: Callback): string | undefined {
  const { token, type = 'payment' } = body;
  return typeof token === 'string' && (type === 'payment' || type === 'pay') ? token : undefined;
}

async function lookSafely(
  deps: CallbackConsumerDependencies,
  callback: Callback,
  cause: Cause,
): Promise<LookResult> {
  const { token } = callback;
  try {
    const result = await deps.look(token, cause);
    const serviceToken = namedPayment(callback);
    const isOurs = result === 'looked' || result === 'awaiting-answer';
    if (!isOurs || serviceToken === undefined) return result;
    // Also while an answer is awaited: the callback may be about an earlier attempt, which nobody else will look for.
    const second = await deps.lookForSecondPayment(token, serviceToken, cause);
    return second === 'failed' ? second : result;
  } catch (error) {
    deps.log.error({ error, token, operation: 'callback' }, 'a look failed');
    return 'failed';
  }
}

async function park(deps: CallbackConsumerDependencies, record: BusRecord, reason: string): Promise<void> {
  const { key, value, headers } = record;
  deps.log.warn(
    { token: key, topic: record.topic, operation: 'callback', outcome: 'parked' },
    'a callback was parked',
  );
  await deps.bus.publish(providerCallbacksDlqTopic, [{ key, value, headers: { ...headers, reason } }]);
}
