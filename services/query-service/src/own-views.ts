/** A caller's payments and payouts by their tokens. */
import { createRecentlyUsed, type EventStore } from '@tollgate/event-store';
import { isOwnedBy, isToken } from '@tollgate/core';
import type { PaymentIndex } from '@tollgate/lists';
import { type Caller } from '@tollgate/teams';
import {
  readView,
  paymentKind,
  payoutKind,
  type ViewEnvelope,
  type ViewKind,
  type PaymentView,
  type PayoutView,
} from '@tollgate/views';

/** The caller's payment or payout with this token, or undefined. @throws StoreUnavailable */
type Find<View> = (caller: Caller, token: string) => Promise<View | undefined>;

export interface OwnViews {
  /** From the index, or from the stored view and later events if the index lacks it or has less of it than was shown here. */
  payment: Find<PaymentView>;
  payout: Find<PayoutView>;
  /** In its current state. */
  latestPayment: Find<PaymentView>;
}

export interface OwnViewsDependencies {
  store: EventStore;
  index: PaymentIndex;
}

/** Forgotten when it is read again, and the index has it. */
const aheadMax = 10_000;

export function createOwnViews(deps: OwnViewsDependencies): OwnViews {
  const { store, index } = deps;
  /** Positions of views that were shown ahead of the index: no later read may show less. */
  const ahead = createRecentlyUsed<Pick<ViewEnvelope, 'position'>>(aheadMax);
  const latestOf =
    <View extends ViewEnvelope>(kind: ViewKind<View>): Find<View> =>
    async (caller, token) => {
      if (!isToken(token)) return undefined;
      const before = ahead.get(token);
      const view = await readView(store, kind, token);
      if (view === undefined || !isOwnedBy(kind.ownerOf(view), caller)) return undefined;
      const known = ahead.get(token);
      // Another read may have shown more meanwhile. A view shown before this read, and missing now, was in a store that was
      // restored.
      const isLatest = known === undefined || known === before || known.position < view.position;
      if (isLatest) ahead.set(token, { position: view.position });
      return view;
    };
  const latestPayment = latestOf(paymentKind);
  const latestPayout = latestOf(payoutKind);

  /** @returns undefined also if the index has less of it than was shown, or may have: a rebuilding one begins with old views */
  function unlessBehind<View extends ViewEnvelope>(view: View | undefined): View | undefined {
    if (index.building() !== undefined) return undefined;
    const shown = view && ahead.get(view.token);
    if (view === undefined || shown === undefined) return view;
    if (view.position < shown.position) return undefined;
    ahead.delete(view.token);
    return view;
  }

  return {
    async payment(caller, token) {
      const { environment, team } = caller;
      const indexed = unlessBehind(index.get(environment, team, token));
      return indexed ?? latestPayment(caller, token);
    },
    async payout(caller, token) {
      const { environment, team } = caller;
      const indexed = unlessBehind(index.getPayout(environment, team, token));
      return indexed ?? latestPayout(caller, token);
    },
    latestPayment,
  };
}
