import type { EventStore } from '@tollgate/event-store';
import {
  type PayoutCommand,
  type PayoutEvent,
  type PayoutRefusal,
  decidePayout,
  decodePayoutEvent,
  payoutStream,
} from '@tollgate/payment-domain';
import { type PayoutView, evolvePayoutView } from '@tollgate/views';
import type { Clock, Ids } from '@tollgate/service-kit';
import { type Done, type Repository, createRepository } from './repository.ts';

export type Payouts = Repository<PayoutView, PayoutEvent, PayoutCommand, PayoutRefusal>;
export type PayoutDone = Done<PayoutView, PayoutEvent>;

export const createPayouts = (deps: { store: EventStore; clock: Clock; ids: Ids }): Payouts =>
  createRepository(deps, {
    stream: payoutStream,
    decode: decodePayoutEvent,
    decide: (view: PayoutView | undefined, command: PayoutCommand) => decidePayout(view?.payout, command),
    evolve: evolvePayoutView,
  });
