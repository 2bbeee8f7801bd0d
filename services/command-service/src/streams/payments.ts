import type { EventStore } from '@tollgate/event-store';
import {
  type PaymentCommand,
  type PaymentEvent,
  type PaymentRefusal,
  decide,
  decodePaymentEvent,
  paymentStream,
} from '@tollgate/payment-domain';
import { type PaymentView, evolvePaymentView } from '@tollgate/views';
import type { Clock, Ids } from '@tollgate/service-kit';
import { type Done, type Repository, createRepository } from './repository.ts';

export type Payments = Repository<PaymentView, PaymentEvent, PaymentCommand, PaymentRefusal>;
export type PaymentDone = Done<PaymentView, PaymentEvent>;

export const createPayments = (deps: { store: EventStore; clock: Clock; ids: Ids }): Payments =>
  createRepository(deps, {
    stream: paymentStream,
    decode: decodePaymentEvent,
    decide: (view: PaymentView | undefined, command: PaymentCommand) => decide(view?.payment, command),
    evolve: evolvePaymentView,
  });
