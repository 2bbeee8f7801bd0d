/** The sandbox's ledger, which is the truth about money, and the gateway's records of it. */
import type { CallGateway, CallSandbox } from './system.ts';

interface Call {
  at: string;
  operation: string;
  token?: string;
  orderNumber?: string;
  /** `none`, or the effect of the call. */
  effect: string;
  /** The HTTP status with the first error code, or the fault that replaced the answer. */
  answer: string;
}

export interface Ledger {
  payments: { token: string; orderNumber: string; status: string; amount: number; refundedAmount: number }[];
  refunds: { token: string; paymentToken: string; amount: number; status: string }[];
  payouts: { token: string; orderNumber: string; amount: number; status: string }[];
  callbacks: { orderNumber: string; status: string; state: string }[];
  calls: Call[];
}

/** @param of prefix of the order numbers that count: the gateway's token of a payment or payout */
export async function ledgerOf(sandbox: CallSandbox, of = ''): Promise<Ledger> {
  const { statusCode, body } = await sandbox('GET', '/sandbox/ledger');
  if (statusCode !== 200) throw new Error(`there is no ledger: ${JSON.stringify(body)}`);
  const all = body as unknown as Ledger;
  const isMeant = ({ orderNumber }: { orderNumber?: string }) => orderNumber?.startsWith(of) ?? of === '';
  const payments = all.payments.filter(isMeant);
  const tokens = new Set(payments.map(({ token }) => token));
  return {
    payments,
    refunds: all.refunds.filter(({ paymentToken }) => tokens.has(paymentToken)),
    payouts: all.payouts.filter(isMeant),
    callbacks: all.callbacks.filter(isMeant),
    calls: all.calls.filter(isMeant),
  };
}

/** The service's token of the only payment that the service made for one of our payments. */
export async function serviceTokenOf(sandbox: CallSandbox, token: string): Promise<string> {
  const { payments } = await ledgerOf(sandbox, `${token}.`);
  const [payment] = payments;
  if (payment === undefined || payments.length > 1)
    throw new Error(`the ledger holds ${payments.length} payments for ${token}`);
  return payment.token;
}

/** A team's view of one of its payments or payouts. */
export async function read(gateway: CallGateway, kind: 'payment' | 'payout', token: string) {
  const { statusCode, body } = await gateway('GET', `/api/v1/${kind}s/${token}`);
  if (statusCode !== 200) throw new Error(`${token} cannot be read: ${JSON.stringify(body)}`);
  return body[kind];
}
