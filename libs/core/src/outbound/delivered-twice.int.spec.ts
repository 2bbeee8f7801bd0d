/**
 * A proxy delivers a call twice, and we read the second answer. The first delivery took effect; the second one is refused, with
 * any code. A call that was really refused: lost-calls.int.spec.ts.
 */
import type { CallOutcome } from '../domain/outbound-call/outbound-call.ts';
import type { Provider } from '../provider.ts';
import { type FakeProvider, createFakeProvider } from '../testing/fake-provider.ts';
import { systemClock } from '@tollgate/service-kit';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Instance, accountNamed } from '../testing/harness.ts';
import { operationCases } from '../testing/operation-cases.ts';
import { useHarness } from '../testing/use-harness.ts';

const harness = useHarness();
/** The answer to the second delivery. */
let answer: CallOutcome<never>;
let instance: Instance;
let other: FakeProvider;

beforeEach(() => {
  const { provider } = harness().provider;
  async function deliver(call: () => Promise<unknown>): Promise<CallOutcome<never>> {
    await call();
    return answer;
  }
  const doubled: Provider = {
    ...provider,
    authorize: (...request) => deliver(() => provider.authorize(...request)),
    payout: (...request) => deliver(() => provider.payout(...request)),
    refund: (...request) => deliver(() => provider.refund(...request)),
  };
  other = createFakeProvider();
  instance = harness().startInstance({
    clock: systemClock,
    accounts: [accountNamed('main', doubled), accountNamed('other', other.provider, { priority: 1 })],
  });
});

const refusedAs = (code: string, kind: string): CallOutcome<never> => ({
  kind: 'refused',
  errors: [{ code, kind }],
  ...(kind === 'authentication_error' && { isAccountRefused: true }),
});
const answers: CallOutcome<never>[] = [
  { kind: 'not-sent', reason: 'http 429', isAnswered: true },
  refusedAs('balance_less_than_amount', 'processing_error'),
  refusedAs('refund_exceeds_amount', 'processing_error'),
  refusedAs('some_code_of_theirs', 'processing_error'),
  refusedAs('incorrect_amount', 'invalid_request_error'),
  refusedAs('incorrect_private_key', 'authentication_error'),
];

// The balance was 1,000 and was paid out; the second delivery was refused. The payout counted as failed, its amount was free
// again, and the next payout took another team's money. A charge was attempted again through another account, because the
// first one was refused as ours, and the card was charged twice. A refund counted as declined, and a second request refunded
// the money again.
describe.each([operationCases.payout, operationCases.byCard, operationCases.refund])('$name', (each) => {
  it.each(answers)(
    'whose second delivery is refused took effect, and is not sent again: %j',
    async (second) => {
      const token = await each.prepare(harness());
      answer = second;
      await each.ask(instance, token);
      await instance.inquire(token);
      expect(await each.stateOf(harness(), token)).toBe(each.whenDone);
      const calls = harness().provider.received.filter(({ operation }) => operation === each.operation);
      // The payment before a refund is a creation of its own.
      expect([calls.length, other.received.length]).toEqual([1, 0]);
    },
  );
});
