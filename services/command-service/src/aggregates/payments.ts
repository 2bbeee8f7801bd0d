import type { EventStore, Position } from '@tollgate/event-store';
import {
  decide,
  decodePaymentEvent,
  evolvePaymentAggregate,
  paymentStream,
  type PaymentAggregate as AggregateAt,
  type PaymentEvent,
  type PaymentInput,
  type PaymentRefusal,
} from '@tollgate/payment-domain';
import type { Clock, Ids } from '@tollgate/service-kit';
import { type Done, type Repository, createRepository } from './repository.ts';

export type PaymentAggregate = AggregateAt<Position>;
export type Payments = Repository<PaymentAggregate, PaymentEvent, PaymentInput, PaymentRefusal>;
export type PaymentDone = Done<PaymentAggregate, PaymentEvent>;

export const createPayments = (deps: { store: EventStore; clock: Clock; ids: Ids }): Payments =>
  createRepository(deps, {
    stream: paymentStream,
    decode: decodePaymentEvent,
    decide: (aggregate: PaymentAggregate | undefined, input: PaymentInput) =>
      decide(aggregate?.payment, input),
    evolve: evolvePaymentAggregate<Position>,
  });
