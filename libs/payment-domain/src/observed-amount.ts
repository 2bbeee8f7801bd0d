/** The service shows what is ours with another amount: a person may say that this is the amount that holds. */
import { amountSchema } from './money.ts';
import { findOpen, type Evidence, type Resolution, type Review, type ReviewResolved } from './review.ts';

interface Own {
  amount: number;
  currency: string;
  providerOrderNumber: string;
  /** Undefined while the service is not known to have it: then nothing that it shows is ours. */
  serviceToken: string | undefined;
}

/** True where nothing but the amount differs. What the evidence leaves out, the inquiry that follows compares. */
export function differsInAmountOnly(
  evidence: Evidence,
  { amount, currency, providerOrderNumber, serviceToken }: Own,
): boolean {
  const isOurs = ([name, own]: [string, string | undefined]) => (evidence[name] ?? own) === own;
  return (
    serviceToken !== undefined &&
    evidence['observedAmount'] !== amount &&
    amountSchema.safeParse(evidence['observedAmount']).success &&
    Object.entries({
      observedCurrency: currency,
      observedOrderNumber: providerOrderNumber,
      observedServiceToken: serviceToken,
    }).every(isOurs)
  );
}

/** With the amount that holds from this answer on. */
export function withAmountThatHolds<State extends { terms: { amount: number }; reviews: readonly Review[] }>(
  state: State,
  { data }: Pick<ReviewResolved<string>, 'data'>,
): State {
  const resolution: string = 'observed_terms_apply' satisfies Resolution;
  const amount =
    data.resolution === resolution ? findOpen(state, data)?.evidence['observedAmount'] : undefined;
  return typeof amount === 'number' ? { ...state, terms: { ...state.terms, amount } } : state;
}
