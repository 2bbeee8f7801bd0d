/** One look at whatever a token names, and at what callbacks have named that could not be looked at when they came. */
import type { UnappliedCallback } from '../callback-consumer.ts';
import type { Payouts } from '../streams/payouts.ts';
import type { Cause } from '../streams/repository.ts';
import {
  type PaymentInquiryDependencies,
  inquirePayment,
  inquireForSecondPayment,
} from './inquire-payment.ts';
import { type PayoutInquiryDependencies, inquirePayout, inquireForSecondPayout } from './inquire-payout.ts';
import type { InquiryResult } from './inquiry-result.ts';

export type InquiryDependencies = PaymentInquiryDependencies & PayoutInquiryDependencies;

const isPayoutToken = (token: string): boolean => token.startsWith('po_');

export async function inquireAbout(
  deps: InquiryDependencies,
  token: string,
  cause: Cause,
): Promise<InquiryResult> {
  const inquire = isPayoutToken(token) ? inquirePayout : inquirePayment;
  const result = await inquire(deps, token, cause);
  if (result !== 'nothing-there') await inquireUnapplied(deps, token, cause);
  return result;
}

/** Looks at a payment or payout of the service that a callback names and that may not be the one we know. */
export const inquireForSecond = (
  deps: InquiryDependencies,
  token: string,
  serviceToken: string,
  cause: Cause,
): Promise<InquiryResult> =>
  (isPayoutToken(token) ? inquireForSecondPayout : inquireForSecondPayment)(deps, token, serviceToken, cause);

export async function noteUnapplied(
  { payments, payouts }: Pick<InquiryDependencies, 'payments'> & { payouts: Payouts },
  { token, ...unapplied }: UnappliedCallback,
  cause: Cause,
): Promise<void> {
  if (isPayoutToken(token))
    await payouts.execute(token, { type: 'RecordUnappliedPayoutCallback', ...unapplied }, cause);
  else await payments.execute(token, { type: 'RecordUnappliedCallback', ...unapplied }, cause);
}

/** Goes on with the next look where the service gives no answer about one of them: it would give none about the others. */
async function inquireUnapplied(deps: InquiryDependencies, token: string, cause: Cause): Promise<void> {
  for (const serviceToken of await namedByUnapplied(deps, token)) {
    const result = await inquireForSecond(deps, token, serviceToken, cause);
    if (result !== 'inquired') return;
    if (isPayoutToken(token))
      await deps.payouts.execute(token, { type: 'RecordPayoutCallbackLooked', serviceToken }, cause);
    else await deps.payments.execute(token, { type: 'RecordCallbackLooked', serviceToken }, cause);
  }
}

/** The service's tokens that a look at what we know does not cover. */
async function namedByUnapplied(
  { payments, payouts }: InquiryDependencies,
  token: string,
): Promise<string[]> {
  const known = isPayoutToken(token)
    ? (await payouts.load(token))?.payout
    : (await payments.load(token))?.payment;
  const named = (known?.reviews ?? []).flatMap(({ code, evidence: { serviceToken } }) =>
    code === 'callback_not_applied' && typeof serviceToken === 'string' ? [serviceToken] : [],
  );
  return named.filter((serviceToken) => serviceToken !== known?.serviceToken);
}
