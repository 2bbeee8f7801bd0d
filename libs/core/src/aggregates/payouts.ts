import type { EventStore, Position } from '@tollgate/event-store';
import { decidePayout } from '../domain/payout/payout-decide.ts';
import {
  decodePayoutEvent,
  payoutStream,
  type PayoutEvent,
  versionOfPayoutEvent,
} from '../domain/payout/payout-events.ts';
import { evolvePayoutAggregate, type PayoutAggregate as AggregateAt } from '../domain/aggregate.ts';
import { type PayoutInput, type PayoutRefusal } from '../domain/payout/payout-commands.ts';
import type { Clock, Ids } from '@tollgate/service-kit';
import { type Done, type Repository, createRepository } from './repository.ts';

export type PayoutAggregate = AggregateAt<Position>;
export type Payouts = Repository<PayoutAggregate, PayoutEvent, PayoutInput, PayoutRefusal>;
export type PayoutDone = Done<PayoutAggregate, PayoutEvent>;

export const createPayouts = (deps: { store: EventStore; clock: Clock; ids: Ids }): Payouts =>
  createRepository(deps, {
    stream: payoutStream,
    decode: decodePayoutEvent,
    versionOf: versionOfPayoutEvent,
    decide: (aggregate: PayoutAggregate | undefined, input: PayoutInput) =>
      decidePayout(aggregate?.payout, input),
    evolve: evolvePayoutAggregate<Position>,
  });
