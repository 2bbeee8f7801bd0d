/** Interprets the search box of operators: objects that match, and why. */
import { toIso } from '@tollgate/gateway-api';
import type { SearchHit } from '@tollgate/gateway-api/http';
import { isRequestId, omitUndefined } from '@tollgate/service-kit';
import type { Reach } from '@tollgate/teams';
import { type DisputeView, type PaymentView, type PayoutView, disputeKind } from '@tollgate/views';
import type { ListOwner } from '@tollgate/lists';
import { readInPieces } from './pieces.ts';
import type { ReadDependencies } from './reading.ts';
import type { RequestLedger, RequestRecord } from '@tollgate/requests';

interface Found {
  hits: SearchHit[];
  /** The request with this id. */
  request?: RequestRecord;
  /** The record of the request with this id. */
  isPartial?: boolean;
}

/** Why it matches, and whether the text is all of what matched. */
type Why = Pick<SearchHit, 'why' | 'isWhole'>;

const hitsMax = 20;

type Searching = Pick<ReadDependencies, 'index' | 'share' | 'directory'> & {
  requests: Pick<RequestLedger, 'find'>;
};

export async function search(
  deps: Searching,
  { reach, owners }: { reach: Reach; owners: readonly ListOwner[] },
  text: string,
): Promise<Found> {
  if (isRequestId(text)) return findByRequest(deps, owners, text);
  const lastDigits = /^(?:\d{4,6})?[*•…. ]{1,}(\d{4})$/.exec(text)?.[1];
  if (lastDigits !== undefined) return findByCard(deps, owners, lastDigits);
  const hits = [
    ...findByServiceToken(deps, reach, text),
    ...findInIndex(deps, owners, text),
    ...findTeamsAndKeys(deps, reach, text),
  ];
  const byWholeness = hits.toSorted((one, other) => Number(other.isWhole) - Number(one.isWhole));
  return { hits: byWholeness.slice(0, hitsMax) };
}

/** At the Payment Service and on its hosted page, a payment has the number `<token>.<attempt>`. */
function findInIndex(deps: Searching, owners: readonly ListOwner[], text: string): SearchHit[] {
  const { index } = deps;
  const asked = /^(?:pay|po)_/.test(text) ? text.replace(/\.\d{1,3}$/, '') : text;
  return index
    .search(owners, { text: asked, limit: hitsMax })
    .flatMap(({ kind, token, ...why }): SearchHit[] => {
      if (kind === 'refund') return refundHits(deps, token, why);
      const view = kind === 'payment' ? index.find(token) : undefined;
      if (view !== undefined) return [paymentHit(view, why)];
      const payout = kind === 'payout' ? index.findPayout(token) : undefined;
      if (payout !== undefined) return [payoutHit(payout, why)];
      const dispute = kind === 'dispute' ? index.rowOf(disputeKind, token) : undefined;
      return dispute === undefined ? [] : [disputeHit(dispute, why)];
    });
}

/** By the Payment Service's token. */
function findByServiceToken({ index }: Searching, reach: Reach, text: string): SearchHit[] {
  const known = index.findByServiceTokenOfAny(text);
  const view = known === undefined ? undefined : index.find(known);
  if (view === undefined || !reach.includes(view.payment)) return [];
  return [paymentHit(view, { why: 'service-token', isWhole: true })];
}

/** @param key `<payment>~<refund>` */
function refundHits({ index }: Searching, key: string, why: Why): SearchHit[] {
  const [paymentToken = '', id = ''] = key.split('~');
  const view = index.find(paymentToken);
  const refund = view?.payment.refunds.find(({ refundToken }) => refundToken === id);
  if (view === undefined || refund === undefined) return [];
  const { amount, state: phase } = refund;
  return [{ ...paymentHit(view, why), kind: 'refund', id, paymentToken, amount, phase }];
}

async function findByRequest(
  { index, requests }: Pick<Searching, 'index' | 'requests'>,
  owners: readonly ListOwner[],
  id: string,
): Promise<Found> {
  const [request] = owners.flatMap((owner) => requests.find(owner, id) ?? []);
  if (request === undefined) return { hits: [] };
  const view = request.token === undefined ? undefined : index.find(request.token);
  const isOwned = owners.some(
    ({ team, environment }) => team === view?.payment.team && environment === view.payment.environment,
  );
  const hits = view === undefined || !isOwned ? [] : [paymentHit(view, { why: 'request', isWhole: true })];
  return { hits, request };
}

async function findByCard(
  { index, share }: Pick<Searching, 'index' | 'share'>,
  owners: readonly ListOwner[],
  lastDigits: string,
): Promise<Found> {
  const accepts = ({ payment }: PaymentView) => payment.sanitizedMask?.endsWith(lastDigits) === true;
  const asked = { owners, perPage: hitsMax, accepts };
  const list = await readInPieces(share, asked, index.listPayments);
  if (list.kind !== 'page') return { hits: [] };
  return {
    hits: list.views.map((view) => paymentHit(view, { why: 'card', isWhole: true })),
    isPartial: list.nextCursor !== undefined,
  };
}

function findTeamsAndKeys(
  { directory }: Pick<Searching, 'directory'>,
  reach: Reach,
  text: string,
): SearchHit[] {
  const wanted = text.toLowerCase();
  const teams = directory.names().filter(reach.includesTeam).toSorted();
  const matches = (name: string): boolean => name.toLowerCase().startsWith(wanted);
  return teams.flatMap((team): SearchHit[] => {
    const keys = directory.find(team)?.keys ?? [];
    return [
      ...(matches(team)
        ? [{ kind: 'team', id: team, why: 'name', isWhole: team === wanted, team } as const]
        : []),
      ...keys
        .filter(({ keyId, environment }) => matches(keyId) && reach.includes({ team, environment }))
        .map(({ keyId, environment, active }) => ({
          kind: 'key' as const,
          id: keyId,
          why: 'name' as const,
          isWhole: keyId.toLowerCase() === wanted,
          team,
          environment,
          phase: active ? 'active' : 'revoked',
        })),
    ];
  });
}

const paymentHit = ({ payment, ...view }: PaymentView, why: Why): SearchHit =>
  hitOf('payment', view, { ...payment, ...payment.terms, ...why });

const payoutHit = ({ payout, ...view }: PayoutView, why: Why): SearchHit =>
  hitOf('payout', view, { ...payout, ...payout.terms, ...why });

const disputeHit = ({ dispute, ...view }: DisputeView, why: Why): SearchHit =>
  hitOf('dispute', view, { ...dispute, phase: dispute.state, ...why });

type Shown = Why & { [Name in Exclude<keyof SearchHit, 'kind'>]?: SearchHit[Name] | undefined };

function hitOf(
  kind: SearchHit['kind'],
  { token: id, createdAt }: Pick<PaymentView, 'token' | 'createdAt'>,
  { why, isWhole, environment, phase, amount, currency, team, orderNumber, paymentToken }: Shown,
): SearchHit {
  const known = omitUndefined({ environment, phase, amount, currency, team, orderNumber, paymentToken });
  return { kind, id, why, isWhole, createdAt: toIso(createdAt), ...known };
}
