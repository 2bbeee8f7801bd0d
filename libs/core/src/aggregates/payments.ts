import type { EventStore, Position } from '@tollgate/event-store';
import { decide } from '../domain/payment/payment-decide.ts';
import {
  decodePaymentEvent,
  paymentStream,
  type PaymentEvent,
  versionOfPaymentEvent,
} from '../domain/payment/payment-events.ts';
import { evolvePaymentAggregate, type PaymentAggregate as AggregateAt } from '../domain/aggregate.ts';
import { type PaymentInput, type PaymentRefusal } from '../domain/payment/payment-commands.ts';
import type { Clock, Ids } from '@tollgate/service-kit';
import { type Done, type Repository, createRepository } from './repository.ts';

export type PaymentAggregate = AggregateAt<Position>;
export type Payments = Repository<PaymentAggregate, PaymentEvent, PaymentInput, PaymentRefusal>;
export type PaymentDone = Done<PaymentAggregate, PaymentEvent>;

/** Reads and folds the stream of a payment. Each repository adds its decisions. */
export const foldOfPayments = {
  stream: paymentStream,
  decode: decodePaymentEvent,
  versionOf: versionOfPaymentEvent,
  evolve: evolvePaymentAggregate<Position>,
};

export const createPayments = (deps: { store: EventStore; clock: Clock; ids: Ids }): Payments =>
  createRepository(deps, {
    ...foldOfPayments,
    decide: (aggregate: PaymentAggregate | undefined, input: PaymentInput) =>
      decide(aggregate?.payment, input),
  });
