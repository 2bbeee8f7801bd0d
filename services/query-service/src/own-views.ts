/** A caller's payments and payouts by their tokens. */
import type { EventStore } from '@tollgate/event-store';
import { inquiryNeedOf, inquiryNeedOfPayout } from '@tollgate/payment-domain';
import { foldStream, type PaymentIndex } from '@tollgate/view-index';
import { isOwnedBy, isToken, type Caller } from '@tollgate/teams';
import {
  paymentKind,
  payoutKind,
  type ViewEnvelope,
  type ViewKind,
  type PaymentView,
  type PayoutView,
} from '@tollgate/views';

/** What the caller has under a token, or undefined. @throws StoreUnavailable */
type Find<View> = (caller: Caller, token: string) => Promise<View | undefined>;

export interface OwnViews {
  /** From the index, or from the events of one that is too new for that. */
  payment: Find<PaymentView>;
  payout: Find<PayoutView>;
  /** From its events, and so as it is now. */
  latestPayment: Find<PaymentView>;
}

export interface OwnViewsDependencies {
  store: EventStore;
  index: PaymentIndex;
  /** Told of a token that was read and whose last call has an outcome that nobody knows. */
  onUnresolvedRead: (token: string) => void;
}

export function createOwnViews(deps: OwnViewsDependencies): OwnViews {
  const { store, index, onUnresolvedRead } = deps;
  const latestOf =
    <View extends ViewEnvelope>(kind: ViewKind<View>): Find<View> =>
    async (caller, token) => {
      if (!isToken(token)) return undefined;
      const view = await foldStream(store, kind, token);
      return view !== undefined && isOwnedBy(kind.ownerOf(view), caller) ? view : undefined;
    };
  const latestPayment = latestOf(paymentKind);
  const latestPayout = latestOf(payoutKind);
  return {
    async payment(caller, token) {
      const { environment, team } = caller;
      const view = index.get(environment, team, token) ?? (await latestPayment(caller, token));
      if (view !== undefined && inquiryNeedOf(view.payment) === 'unresolved') onUnresolvedRead(token);
      return view;
    },
    async payout(caller, token) {
      const { environment, team } = caller;
      const view = index.getPayout(environment, team, token) ?? (await latestPayout(caller, token));
      if (view !== undefined && inquiryNeedOfPayout(view.payout) === 'unresolved') onUnresolvedRead(token);
      return view;
    },
    latestPayment,
  };
}
