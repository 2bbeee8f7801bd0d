/** A dispute as its team sees it, in the specification's own fields. */
import { given } from '@tollgate/service-kit';
import { openedAtOf, type DisputeView } from './dispute-view.ts';
import { toIso } from './public-values.ts';

/** The amount is an integer in minor units; instants are ISO 8601 in UTC. */
export interface PublicDispute {
  /** The Payment Service's own: what its people and the bank know the dispute by. */
  id: string;
  /** Our token of the payment that it is about. */
  token?: string;
  amount: number;
  currency: string;
  /** As the service tells them: the specification names no values. */
  status: string;
  type?: string;
  reasonCode?: string;
  comment?: string;
  createdAt: string;
  updatedAt: string;
}

export function toPublicDispute(view: DisputeView): PublicDispute {
  const { id, paymentToken, amount, currency, status, type, reasonCode, comment } = view.dispute;
  return {
    id,
    ...given({ token: paymentToken }),
    ...{ amount, currency, status },
    ...given({ type, reasonCode, comment }),
    createdAt: toIso(openedAtOf(view)),
    updatedAt: toIso(view.updatedAt),
  };
}
