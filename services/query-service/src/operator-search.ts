/** Interprets the search box of operators: possible payments, and why they match. */
import type { EventStore } from '@tollgate/event-store';
import { refundKeyStream, refundKeyUsedSchema, isToken } from '@tollgate/core';
import { isRequestId } from '@tollgate/service-kit';
import { type PaymentView, foldStream, paymentKind } from '@tollgate/views';
import type { ListOfAll, ListOwner, PaymentIndex } from '@tollgate/lists';
import { readInPieces } from './pieces.ts';
import type { ReadDependencies } from './reading.ts';
import type { RequestLedger, RequestRecord } from '@tollgate/requests';

export interface Hit {
  why: 'token' | 'refund' | 'service-token' | 'request' | 'order-number' | 'mask';
  view: PaymentView;
}

interface Found {
  found: Hit[];
  /** What became of the request whose id it was. */
  request?: RequestRecord;
  /** Older payments were not looked at. */
  isPartial?: boolean;
}

const hitsMax = 20;

/** As many as one reads while typing. */
const suggestionsMax = 8;

/** Payments whose token or order number begins with a text. */
export function findByBeginning(index: PaymentIndex, owners: readonly ListOwner[], text: string): Hit[] {
  return index.findBeginning(owners, text, suggestionsMax).flatMap(({ why, token }) => {
    const view = index.find(token);
    return view === undefined ? [] : [{ why, view }];
  });
}

type Searching = Pick<ReadDependencies, 'store' | 'index' | 'share'> & {
  requests: Pick<RequestLedger, 'find'>;
};

export async function searchPayments(
  deps: Searching,
  owners: readonly ListOwner[],
  text: string,
): Promise<Found> {
  if (isRequestId(text)) return findByRequest(deps, owners, text);
  const byToken = (await findByToken(deps.store, text)) ?? findByServiceToken(deps.index, text);
  return byToken !== undefined && isOwned(byToken, owners)
    ? { found: [byToken] }
    : findInLists(deps, owners, text);
}

const isOwned = ({ view: { payment } }: Hit, owners: readonly ListOwner[]): boolean =>
  owners.some(({ team, environment }) => team === payment.team && environment === payment.environment);

async function findByRequest(
  { store, requests }: Pick<Searching, 'store' | 'requests'>,
  owners: readonly ListOwner[],
  id: string,
): Promise<Found> {
  const [request] = owners.flatMap((owner) => requests.find(owner, id) ?? []);
  if (request === undefined) return { found: [] };
  const hit = request.token === undefined ? undefined : await findByToken(store, request.token);
  return {
    found: hit === undefined || !isOwned(hit, owners) ? [] : [{ ...hit, why: 'request' }],
    request,
  };
}

function findByServiceToken(index: PaymentIndex, text: string): Hit | undefined {
  const token = index.findByServiceTokenOfAny(text);
  const view = token === undefined ? undefined : index.find(token);
  return view && { why: 'service-token', view };
}

async function findInLists(
  { index, share }: Searching,
  owners: readonly ListOwner[],
  text: string,
): Promise<Found> {
  const listed = async (more: Partial<ListOfAll<PaymentView>>) => {
    const asked = { owners, perPage: hitsMax, ...more };
    const list = await readInPieces(share, asked, (piece) => index.listPaymentsOfAll(piece));
    return list.kind === 'page' ? { nextCursor: undefined, ...list } : { views: [], nextCursor: undefined };
  };
  const byOrder = (await listed({ orderNumber: text })).views.map((view) => ({
    why: 'order-number' as const,
    view,
  }));
  const lastDigits = /^(?:\d{4,6})?[*•…. ]{1,}(\d{4})$/.exec(text)?.[1];
  if (byOrder.length > 0 || lastDigits === undefined) return { found: byOrder };
  const accepts = ({ payment }: PaymentView) => payment.sanitizedMask?.endsWith(lastDigits) === true;
  const { views, nextCursor } = await listed({ accepts });
  return {
    found: views.map((view) => ({ why: 'mask' as const, view })),
    isPartial: nextCursor !== undefined,
  };
}

async function findByToken(store: EventStore, text: string): Promise<Hit | undefined> {
  if (!isToken(text)) return undefined;
  const view = await foldStream(store, paymentKind, text);
  if (view !== undefined) return { why: 'token', view };
  for await (const { data } of store.read(refundKeyStream(text), { limit: 1 })) {
    const { paymentToken } = refundKeyUsedSchema.parse(data);
    const refunded = await foldStream(store, paymentKind, paymentToken);
    return refunded === undefined ? undefined : { why: 'refund', view: refunded };
  }
  return undefined;
}
