/** A caller's payments and payouts by their tokens. */
import type { EventStore } from '@tollgate/event-store';
import { openWorkOf, openWorkOfPayout } from '@tollgate/payment-domain';
import {
  foldStream,
  isOwnedBy,
  isToken,
  paymentKind,
  payoutKind,
  type Caller,
  type DocumentEnvelope,
  type DocumentKind,
  type PaymentDocument,
  type PaymentIndex,
  type PayoutDocument,
} from '@tollgate/read-models';

/** What the caller has under a token, or undefined. @throws StoreUnavailable */
type Find<Document> = (caller: Caller, token: string) => Promise<Document | undefined>;

export interface OwnDocuments {
  /** From the index, or from the events of one that is too new for that. */
  payment: Find<PaymentDocument>;
  payout: Find<PayoutDocument>;
  /** From its events, and so as it is now. */
  latestPayment: Find<PaymentDocument>;
}

export interface OwnDocumentsDependencies {
  store: EventStore;
  index: PaymentIndex;
  /** Told of a token that was read and whose last call has an outcome that nobody knows. */
  onUnresolvedRead: (token: string) => void;
}

export function createOwnDocuments(deps: OwnDocumentsDependencies): OwnDocuments {
  const { store, index, onUnresolvedRead } = deps;
  const latestOf =
    <Document extends DocumentEnvelope>(kind: DocumentKind<Document>): Find<Document> =>
    async (caller, token) => {
      if (!isToken(token)) return undefined;
      const document = await foldStream(store, kind, token);
      return document !== undefined && isOwnedBy(kind.ownerOf(document), caller) ? document : undefined;
    };
  const latestPayment = latestOf(paymentKind);
  const latestPayout = latestOf(payoutKind);
  return {
    async payment(caller, token) {
      const { environment, team } = caller;
      const document = index.get(environment, team, token) ?? (await latestPayment(caller, token));
      if (document !== undefined && openWorkOf(document.payment) === 'unresolved') onUnresolvedRead(token);
      return document;
    },
    async payout(caller, token) {
      const { environment, team } = caller;
      const document = index.getPayout(environment, team, token) ?? (await latestPayout(caller, token));
      if (document !== undefined && openWorkOfPayout(document.payout) === 'unresolved')
        onUnresolvedRead(token);
      return document;
    },
    latestPayment,
  };
}
