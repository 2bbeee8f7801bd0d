import type { EventStore } from '@tollgate/event-store';
import {
  type PaymentCommand,
  type PaymentEvent,
  type PaymentRefusal,
  decide,
  decodePaymentEvent,
  paymentStream,
} from '@tollgate/payment-domain';
import { type PaymentDocument, evolvePaymentDocument } from '@tollgate/read-models';
import type { Clock, Ids } from '@tollgate/service-kit';
import { type Done, type Repository, createRepository } from './repository.ts';

export type Payments = Repository<PaymentDocument, PaymentEvent, PaymentCommand, PaymentRefusal>;
export type PaymentDone = Done<PaymentDocument, PaymentEvent>;

export const createPayments = (deps: { store: EventStore; clock: Clock; ids: Ids }): Payments =>
  createRepository(deps, {
    stream: paymentStream,
    decode: decodePaymentEvent,
    decide: (document: PaymentDocument | undefined, command: PaymentCommand) =>
      decide(document?.payment, command),
    evolve: evolvePaymentDocument,
  });
