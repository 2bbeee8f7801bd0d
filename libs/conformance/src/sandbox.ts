/**
 * The sandbox controls: actions of a customer or a bank, and time. They are not part of the specification, and only
 * bring a payment into the state that a specified rule is about.
 */
import { describe, findField, hasSucceeded, isObject, type Answer, type Json } from './answers.ts';
import { poll, type Clock } from './clock.ts';
import { Unmet, needs } from './conformance-test.ts';

/** Identifies a payment at the tested service. */
export interface PaymentName {
  token: string;
  orderNumber: string;
}

export type Sandbox = ReturnType<typeof createSandbox>;

export type SandboxCall = (
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
) => Promise<Answer>;

/**
 * @param isElsewhere the tested service is in front of the sandbox and has tokens of its own: the sandbox's token is
 * then found in the sandbox's ledger
 */
export function createSandbox(deps: {
  call: SandboxCall;
  isElsewhere: boolean;
  /** An operator has allowed it: it expires all open payments of the sandbox. */
  mayMoveClock: boolean;
  clock: Clock;
  patienceMs: number;
}) {
  const { call, isElsewhere, mayMoveClock, clock, patienceMs } = deps;
  const tokenOf = async (payment: PaymentName): Promise<string> => {
    if (!isElsewhere) return payment.token;
    const found = await poll(clock, patienceMs, async () =>
      findInLedger(await control('GET', '/sandbox/ledger'), payment),
    );
    if (found === undefined) throw new Unmet(`needs payment ${payment.token} in the sandbox's ledger`);
    return found;
  };
  const control = async (...asked: Parameters<SandboxCall>): Promise<Answer> => {
    const answer = await call(...asked);
    if (hasSucceeded(answer)) return answer;
    throw new Unmet(`needs a sandbox control that works: ${describe(answer)}`);
  };
  const pathOf = async (payment: PaymentName) =>
    `/sandbox/payments/${encodeURIComponent(await tokenOf(payment))}`;
  // All but `pay` throw Unmet if a control does not work.
  return {
    /** Pays like a customer on the payment page; returns the answer, which is a refusal if nothing is left to do. */
    pay: async (payment: PaymentName, outcome: 'approved' | 'declined'): Promise<Answer> =>
      call('POST', `${await pathOf(payment)}/pay`, { outcome }),
    /** Lets time pass for the whole sandbox. */
    advance: async (byMs: number): Promise<Answer> => {
      if (!mayMoveClock) throw new Unmet(needs.clock);
      return control('POST', '/sandbox/clock', { advanceMs: byMs });
    },
    /** The customer's bank disputes a payment. */
    dispute: async (payment: PaymentName): Promise<Answer> =>
      control('POST', '/sandbox/disputes', { token: await tokenOf(payment) }),
    /** Makes the next call of one operation fail on the service's side. */
    failNext: async (operation: string): Promise<Answer> => {
      if (isElsewhere) throw new Unmet(needs.faults);
      return control('POST', '/sandbox/faults', [{ operation, fault: 'error_before', times: 1 }]);
    },
    clearFaults: (): Promise<Answer> => control('DELETE', '/sandbox/faults'),
  };
}

/**
 * The sandbox's token of a payment that was created through a service in front of it: that service has passed on the merchant's
 * orderNumber, or its own
 * token, possibly followed by a dot and the number of the attempt. The newest one counts.
 */
function findInLedger({ body }: Pick<Answer, 'body'>, payment: PaymentName): string | undefined {
  const payments = findField(body, 'payments');
  const records: Json[] = Array.isArray(payments) ? payments.filter(isObject) : [];
  const { token, orderNumber } = payment;
  const isMeant = (record: Json): boolean => {
    if (record['token'] === token) return true;
    const named = record['orderNumber'];
    return (
      typeof named === 'string' && (named === orderNumber || named === token || named.startsWith(`${token}.`))
    );
  };
  const found = records.findLast(isMeant)?.['token'];
  return typeof found === 'string' ? found : undefined;
}
