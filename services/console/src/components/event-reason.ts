/** Reasons and changes in the data of an event, in words. */
import { reviewTexts } from '../review-texts.ts';
import { texts } from '../texts.ts';
import { reviewTitle } from './notice.ts';
import { phaseName } from './state.ts';

type Data = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Data => typeof value === 'object' && value !== null;
const textIn = (data: Data, name: string): string | undefined =>
  typeof data[name] === 'string' && data[name] !== '' ? data[name] : undefined;

/** The Payment Service's own words, if any. */
export function reasonIn(data: Data): string | undefined {
  const errors = Array.isArray(data['errors']) ? data['errors'].filter(isRecord) : [];
  const given = errors.map((error) => textIn(error, 'message') ?? textIn(error, 'code') ?? '');
  if (given.length > 0) return given.join(' ');
  const reason = textIn(data, 'reason');
  return textIn(data, 'declineReason') ?? (reason && (reasons[reason] ?? reason));
}

/** The review of an event, and its resolution. */
export function reviewIn(data: Data): string | undefined {
  const code = textIn(data, 'code');
  if (code === undefined) return undefined;
  const resolution = textIn(data, 'resolution');
  if (resolution !== undefined) return reviewTexts.resolutions[resolution] ?? resolution;
  return reviewTitle({ code, evidence: isRecord(data['evidence']) ? data['evidence'] : {} });
}

/** For example `Approved → Declined`. */
export function changeIn(data: Data): string | undefined {
  const evidence = isRecord(data['evidence']) ? data['evidence'] : data;
  const from = textIn(evidence, 'from') ?? textIn(evidence, 'status');
  const to = textIn(evidence, 'to') ?? textIn(evidence, 'observedStatus');
  return from === undefined || to === undefined || from === to
    ? undefined
    : `${phaseName(from)} → ${phaseName(to)}`;
}

const reasons: Readonly<Record<string, string>> = {
  refused: 'Refused by the Payment Service.',
  'not-sent': 'The call was not sent.',
  'not-found': 'The Payment Service has no record of it.',
  declined: 'Declined by the Payment Service.',
  resolved: 'An operator resolved it as not made.',
  timeout: 'No answer in time.',
};

const refusals: Readonly<Record<string, string>> = {
  CaptureRefused: 'capture',
  VoidRefused: 'void',
  RefundDeclined: 'refund',
  PaymentDeclined: 'authorize',
  PaymentFailed: 'authorize',
  PayoutDeclined: 'payout',
  PayoutFailed: 'payout',
};
const sidelines = /^(Review|Callback|Dispute|RecurringToken)/;

/** A refusal without a later event, for example `The capture was refused: card expired.` */
export function openRefusal(events: readonly { type: string; data: Data }[]): string | undefined {
  const last = events.findLast(({ type }) => !sidelines.test(type));
  const refused = last && refusals[last.type];
  if (last === undefined || refused === undefined) return undefined;
  // The reason of a failed payment is that of its last attempt.
  const why = reasonIn(events.findLast(({ type }) => type === 'AttemptRefused')?.data ?? {});
  const operation = texts.operations[refused] ?? refused;
  const reason = last.type === 'PaymentFailed' ? (why ?? reasonIn(last.data)) : reasonIn(last.data);
  return `The ${operation} was refused${reason === undefined ? '.' : `: ${reason}`}`;
}
