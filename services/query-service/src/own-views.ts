/** A caller's payments and payouts by their tokens. */
import type { EventStore } from '@tollgate/event-store';
import { inquiryNeedOf, inquiryNeedOfPayout } from '@tollgate/payment-domain';
import type { PaymentIndex } from '@tollgate/view-index';
import { isOwnedBy, isToken, type Caller } from '@tollgate/teams';
import {
  foldStream,
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
  /** From the index, or from its events if it is too new for the index. */
  payment: Find<PaymentView>;
  payout: Find<PayoutView>;
  /** From its events, and so in its current state. */
  latestPayment: Find<PaymentView>;
}

export interface OwnViewsDependencies {
  store: EventStore;
  index: PaymentIndex;
  /** Called for a token that was read while the outcome of its last call is unknown. */
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
