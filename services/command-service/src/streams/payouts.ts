import type { EventStore } from '@tollgate/event-store';
import {
  type PayoutCommand,
  type PayoutEvent,
  type PayoutRefusal,
  decidePayout,
  decodePayoutEvent,
  payoutStream,
} from '@tollgate/payment-domain';
import { type PayoutDocument, evolvePayoutDocument } from '@tollgate/read-models';
import type { Clock, Ids } from '@tollgate/service-kit';
import { type Done, type Repository, createRepository } from './repository.ts';

export type Payouts = Repository<PayoutDocument, PayoutEvent, PayoutCommand, PayoutRefusal>;
export type PayoutDone = Done<PayoutDocument, PayoutEvent>;

export const createPayouts = (deps: { store: EventStore; clock: Clock; ids: Ids }): Payouts =>
  createRepository(deps, {
    stream: payoutStream,
    decode: decodePayoutEvent,
    decide: (document: PayoutDocument | undefined, command: PayoutCommand) =>
      decidePayout(document?.payout, command),
    evolve: evolvePayoutDocument,
  });
