/**
 * A dispute: the customer's bank demands money back (stream `dispute-<token>`). The stream records the provider's list and the
 * payment that it concerns. Once that payment is known, the core records it there as well (`payment/disputes.ts`).
 */
import {
  type Decision,
  type Environment,
  type ObservedDispute,
  disputeStates,
  environmentSchema,
  instantSchema,
} from '@tollgate/core';
import { amountSchema, currencySchema } from '@tollgate/core/money';
import { InvariantViolation, omitUndefined } from '@tollgate/service-kit';
import { maskedText } from '@tollgate/service-kit/card-number';
import { z } from 'zod';
import { type EventOf, eventFamily } from '@tollgate/event-store';

export const disputeStreamPrefix = 'dispute-';
export const disputeStream = (token: string): string => `${disputeStreamPrefix}${token}`;

/** The provider's list shows the dispute. */
export interface ObserveDispute {
  type: 'ObserveDispute';
  environment: Environment;
  account: string;
  observed: ObservedDispute;
  /** The payment that it concerns, if known. */
  payment?: { token: string; team: string };
}

/** Why a dispute cannot be recorded: an invalid amount or currency. */
export interface DisputeRefusal {
  code: 'dispute_amount_invalid' | 'dispute_currency_invalid';
}

/** Maximum length of a status, type, reason code or comment, in characters. */
const nameLengthMax = 100;
const commentLengthMax = 1_000;
const idLengthMax = 128;

/** Milliseconds since the Unix epoch, up to the latest valid date. */
const openedAtSchema = instantSchema.max(8_640_000_000_000_000);

const nameSchema = z.string().max(nameLengthMax);
const factsShape = {
  amount: amountSchema,
  currency: currencySchema,
  status: nameSchema,
  state: z.enum(disputeStates),
  type: nameSchema.optional(),
  reasonCode: nameSchema.optional(),
  comment: z.string().max(commentLengthMax).optional(),
};

/** Data of each event type, as stored. */
export const disputeEventSchemas = {
  DisputeOpened: z.object({
    environment: environmentSchema,
    account: z.string(),
    id: z.string().max(idLengthMax),
    team: z.string().optional(),
    paymentToken: z.string().optional(),
    ...factsShape,
    openedAt: openedAtSchema.optional(),
  }),
  /** The current status, and those other facts that are new. */
  DisputeChanged: z.object({
    ...factsShape,
    amount: factsShape.amount.optional(),
    currency: factsShape.currency.optional(),
    state: factsShape.state.optional(),
  }),
  /** The payment became known later. */
  DisputeMatched: z.object({ team: z.string(), paymentToken: z.string() }),
} as const;

export type DisputeEventType = keyof typeof disputeEventSchemas;
export type DisputeEvent = EventOf<typeof disputeEventSchemas>;

export const { decode: decodeDisputeEvent, versionOf: versionOfDisputeEvent } =
  eventFamily(disputeEventSchemas);

export type Dispute = z.infer<typeof disputeEventSchemas.DisputeOpened>;

/** Events to append atomically; none if the list shows nothing new. */
export function decideDispute(
  state: Dispute | undefined,
  command: ObserveDispute,
): Decision<DisputeEvent, DisputeRefusal> {
  const code = faultOf(command.observed);
  if (code !== undefined) return { kind: 'refused', refusal: { code } };
  return { kind: 'events', events: state === undefined ? [open(command)] : observe(state, command) };
}

function open({ environment, account, observed, payment }: ObserveDispute): DisputeEvent {
  const data = { environment, account, ...toKeep(observed), ...matchWith(payment) };
  return { type: 'DisputeOpened', data };
}

function observe(
  state: Dispute,
  { environment, account, observed, payment }: ObserveDispute,
): DisputeEvent[] {
  const { id, openedAt: _, ...facts } = toKeep(observed);
  if (state.environment !== environment || state.account !== account || state.id !== id)
    throw new InvariantViolation('a dispute was observed on the stream of another one');
  const match = state.paymentToken === undefined ? matchWith(payment) : undefined;
  // The first match is final: a dispute does not move to another payment.
  return [
    ...change(state, facts),
    ...(match === undefined ? [] : [{ type: 'DisputeMatched' as const, data: match }]),
  ];
}

const matchWith = (payment: ObserveDispute['payment']) =>
  payment && { team: payment.team, paymentToken: payment.token };

function faultOf({ amount, currency }: ObservedDispute): DisputeRefusal['code'] | undefined {
  if (!amountSchema.safeParse(amount).success) return 'dispute_amount_invalid';
  return currencySchema.safeParse(currency).success ? undefined : 'dispute_currency_invalid';
}

type Facts = Omit<ObservedDispute, 'id' | 'openedAt'>;

/** Bounded length, with card numbers masked in all texts of the provider. */
function toKeep({ id, amount, currency, state, ...observed }: ObservedDispute): ObservedDispute {
  const { status, type, reasonCode, comment, openedAt } = observed;
  return {
    // For display only. Disputes are identified by their stream, whose token is derived from the whole id.
    id: maskedText(id, idLengthMax),
    amount,
    currency,
    status: maskedText(status, nameLengthMax),
    state,
    ...omitUndefined({
      type: type && maskedText(type, nameLengthMax),
      reasonCode: reasonCode && maskedText(reasonCode, nameLengthMax),
      comment: comment && maskedText(comment, commentLengthMax),
      openedAt: openedAtSchema.safeParse(openedAt).data,
    }),
  };
}

/** Facts missing from the list are kept, and the opening time does not change. */
function change(state: Dispute, facts: Facts): DisputeEvent[] {
  const changed = Object.entries(facts).filter(([name, value]) => state[name as keyof Facts] !== value);
  if (changed.length === 0) return [];
  return [{ type: 'DisputeChanged', data: { ...Object.fromEntries(changed), status: facts.status } }];
}

/** @throws InvariantViolation if the first event is not DisputeOpened, or a later one is */
export function evolveDispute(state: Dispute | undefined, event: DisputeEvent): Dispute {
  if (state === undefined) {
    if (event.type === 'DisputeOpened') return event.data;
    throw new InvariantViolation(`${event.type} came before DisputeOpened`);
  }
  switch (event.type) {
    case 'DisputeOpened':
      throw new InvariantViolation('DisputeOpened was recorded twice');
    case 'DisputeChanged':
      return { ...state, ...omitUndefined(event.data) };
    case 'DisputeMatched':
      return { ...state, ...event.data };
  }
}
