/**
 * Every route, called by people with each role, for objects within and out of reach. Support staff of one team could
 * refund the payments of every team: roles had no team.
 */
import { randomUUID } from 'node:crypto';
import type { EventStore } from '@tollgate/event-store';
import { type Bound, type Route, routes } from '@tollgate/gateway-api/http';
import { createWebhookJournal } from '@tollgate/webhooks';
import { type Environment, environmentSchema } from '@tollgate/core';
import { noCounts, reconciliationJournal, reconciliationStream } from '@tollgate/reconciliation';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import {
  type Grant,
  type OperatorRole,
  createSecurityLog,
  everywhere,
  formatGrants,
  operatorRoles,
  parseGrant,
  rightsOf,
} from '@tollgate/teams';
import { isWholeRun } from '@tollgate/testing';
import { appendTeamEvents, givenTeam, keyIssued, originsAllowed } from '@tollgate/teams/testing';
import {
  projectEvents,
  disputeOpened,
  happening,
  payoutApprovalRequested,
  requested,
} from '@tollgate/views/testing';
import { disputeKind, paymentKind, payoutKind } from '@tollgate/views';
import type { LightMyRequestResponse } from 'fastify';
import { describe, expect, it } from 'vitest';
import { type TestedApi, startApi } from './testing/api.ts';

interface Owner {
  team: string;
  environment: Environment;
}

const owners: Owner[] = ['shop', 'games'].flatMap((team) =>
  environmentSchema.options.map((environment) => ({ team, environment })),
);
/** Every object of an owner: an answer that contains the mark shows an object of that owner. */
const markOf = ({ team, environment }: Owner): string => `${team}-${environment}`;

const cause = { correlationId: 'c', causationId: 'c' };

async function seed(store: EventStore): Promise<void> {
  const log = createSecurityLog({ store, clock: systemClock, ids: systemIds, log: silentLog });
  const journal = createWebhookJournal({ store, clock: systemClock, ids: systemIds });
  for (const team of ['shop', 'games']) {
    await givenTeam(store, { team, keyId: `${team}-first` });
    await appendTeamEvents(store, team, [originsAllowed('callback', `https://${team}.example`)]);
  }
  for (const owner of owners) {
    const mark = markOf(owner);
    const { team, environment } = owner;
    await appendTeamEvents(store, team, [
      keyIssued({ team, keyId: mark, environment }),
      {
        type: 'MoneyLimited',
        data: { environment, operation: 'payout', currency: 'EUR', keyId: mark, perCall: 5, perDay: null },
      },
    ]);
    const asked = { ...owner, orderNumber: mark };
    const { accepted, approved, refunding, reviews } = happening;
    const refund = { ...refunding, data: { ...refunding.data, refundToken: `ref_${mark}` } };
    const events = [requested(asked), accepted, approved, refund, reviews];
    await projectEvents(store, paymentKind, `pay_${mark}`, events);
    const declined = { type: 'PaymentDeclined', data: { declineReason: mark } } as const;
    await projectEvents(store, paymentKind, `pay_declined-${mark}`, [requested(asked), accepted, declined]);
    await projectEvents(store, payoutKind, `po_${mark}`, [payoutApprovalRequested(asked)]);
    const dispute = disputeOpened({ ...owner, id: mark, paymentToken: `pay_${mark}` });
    await projectEvents(store, disputeKind, `dis_${mark}`, [dispute]);
    await givenFailedWebhook(journal, owner);
    await givenReconciliation(store, owner);
    const actor = { kind: 'person', name: 'ada', source: 'command-line' } as const;
    const data = { command: 'spec', detail: { ...owner, token: `pay_${mark}` } };
    await log.record([{ event: { type: 'OperatorActed', data }, actor }]);
  }
}

async function givenFailedWebhook(
  journal: ReturnType<typeof createWebhookJournal>,
  owner: Owner,
): Promise<void> {
  const token = `pay_${markOf(owner)}`;
  const id = `whk_${markOf(owner)}`;
  const body = { token, type: 'payment', status: 'approved', orderNumber: null, amount: 1, currency: 'EUR' };
  const url = `https://${owner.team}.example/${markOf(owner)}`;
  await journal.recordDue(token, [{ ...owner, id, url, at: systemClock.now(), body }] as never, cause);
  for (;;) {
    const { state } = await journal.recordOutcome(token, id, { kind: 'failed', reason: 'timeout' });
    if (state.webhooks[0]?.state === 'given_up') return;
  }
}

async function givenReconciliation(store: EventStore, { team, environment }: Owner): Promise<void> {
  const token = `rcn_${markOf({ team, environment })}`;
  const [requestedAt, startedAt, endedAt] = [1, 2, 3];
  const request = { token, environment, account: 'main', day: '2026-11-01', isDryRun: false, by: 'schedule' };
  const append = (stream: string, type: string, data: object) =>
    store.append(stream, [{ id: randomUUID(), type, data, metadata: {} }], 'any');
  const ended = { outcome: 'complete', endedAt, team };
  await append(reconciliationStream(token), 'ReconciliationStarted', { ...request, requestedAt, startedAt });
  await append(reconciliationStream(token), 'ReconciliationEnded', ended);
  const summary = { ...request, requestedAt, startedAt, ...ended, counts: noCounts, sums: [] };
  await append(reconciliationJournal, 'ReconciliationReported', summary);
}

interface Asked {
  /** The parameters and the query of the URL. */
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  body?: object;
  /** What an answer within reach contains; by default the mark of the owner for reads. */
  shows?: 'mark' | 'team' | 'nothing';
  /** It counts in both environments, so a grant for one of them is not enough. */
  isOfBoth?: true;
}

type Routes = typeof routes;
type AcrossName = {
  [Name in keyof Routes]: Routes[Name] extends { bound: Bound } ? Name : never;
}[keyof Routes];

const token = (owner: Owner) => ({ path: { token: `pay_${markOf(owner)}` } });
const payout = (owner: Owner) => ({ path: { token: `po_${markOf(owner)}` } });
const account = (owner: Owner): Asked => ({
  path: { environment: owner.environment, account: 'main' },
  query: {},
  body: { reason: 'spec' },
});
const ofNobody = (): Asked => ({});

/** How each route across teams is called for an owner's objects. A missing route does not compile. */
const across: Readonly<Record<AcrossName, (owner: Owner) => Asked>> = {
  listPaymentsOfAll: ofNobody,
  exportPaymentsOfAll: ofNobody,
  retrievePaymentOfAny: token,
  listPaymentEventsOfAny: token,
  inquirePayment: token,
  transferMoney: ofNobody,
  listPayoutsOfAll: ofNobody,
  listRefundsOfAll: ofNobody,
  exportRefundsOfAll: ofNobody,
  listDisputesOfAll: ofNobody,
  exportDisputesOfAll: ofNobody,
  listJournalOfAll: ofNobody,
  exportJournalOfAll: ofNobody,
  listStatementsOfAll: () => ({ query: { month: '2026-01' }, shows: 'team' }),
  exportStatementsOfAll: () => ({ query: { month: '2026-01' }, shows: 'team' }),
  listBalancesOfAll: () => ({ shows: 'team' }),
  retrievePayoutOfAny: payout,
  listPayoutEventsOfAny: payout,
  listReconciliationsOfAll: ofNobody,
  retrieveReconciliationOfAny: (owner) => ({ path: { token: `rcn_${markOf(owner)}` } }),
  requestReconciliation: ({ environment }) => ({ body: { environment, account: 'main', day: '2026-01-31' } }),
  listWebhooksOfAll: ofNobody,
  listDisabledEndpoints: ofNobody,
  replayWebhooksOfAll: (owner) => ({ body: { ...owner, id: `whk_${markOf(owner)}` } }),
  listSecurityLog: () => ({ query: { kind: 'operator' } }),
  listReviewsOfAll: ofNobody,
  showOverview: () => ({ shows: 'nothing' }),
  searchAll: (owner) => ({ query: { q: `pay_${markOf(owner)}` } }),
  countOutcomes: () => ({ query: { by: 'reason', createdFrom: '1970-01-01T00:00:00Z' } }),
  listTeamNames: () => ({ shows: 'team' }),
  listSavedViews: ofNobody,
  saveView: () => ({ body: { name: 'mine', query: '' } }),
  removeView: () => ({ body: { name: 'mine' } }),
  signIn: ofNobody,
  showMe: ofNobody,
  revokeOwnCredentials: ofNobody,
  listCredentials: ofNobody,
  revokeCredentials: () => ({ body: { person: 'nobody' } }),
  listAccountHealth: ofNobody,
  retrieveAccountBalance: (owner) => ({ ...account(owner), query: { currency: 'EUR' } }),
  pauseAccount: account,
  drainAccount: account,
  resumeAccount: account,
  reloadAccounts: ofNobody,
  listKeysOfAll: ofNobody,
  retrieveTeam: ({ team }) => ({ path: { team } }),
  addTeam: () => ({ body: { team: 'tea' } }),
  issueKey: (owner) => ({ body: { ...owner, scopes: ['read'] } }),
  revokeKey: (owner) => ({ path: { keyId: markOf(owner) }, body: { team: owner.team } }),
  allowOrigins: ({ team }) => ({
    path: { team },
    body: { purpose: 'callback', origins: [] },
    isOfBoth: true,
  }),
  chooseWallet: ({ team }) => ({ path: { team }, body: { wallet: { kind: 'own' } } }),
  requireApproval: ({ team, environment }) => ({
    path: { team },
    body: { environment, currency: 'EUR', above: null },
  }),
  limitMoney: ({ team, environment }) => ({
    path: { team },
    body: { environment, operation: 'payout', currency: 'EUR', perCall: 7, perDay: null },
  }),
};

/** The parameters of the routes of a team. */
function withinOf(route: Route, owner: Owner): Asked {
  const mark = markOf(owner);
  const kinds: [string, string][] = [
    ['/payouts/', 'po_'],
    ['/reconciliations/', 'rcn_'],
  ];
  const prefix = kinds.find(([part]) => route.url.includes(part))?.[1] ?? 'pay_';
  const named = { token: `${prefix}${mark}`, refundToken: 'ref_1', id: 'we_1', webhook: `whk_${mark}` };
  const body = route.body?.example as { token?: string } | undefined;
  const isOfMonth = route.url.startsWith('/api/v1/statements');
  const query: Record<string, string> = {
    ...(route.url === '/api/v1/balance' && { currency: 'EUR' }),
    ...(isOfMonth && { month: '2026-01' }),
  };
  return { path: named, query, ...(body && { body: body.token ? { ...body, token: named.token } : body }) };
}

function addressOf({ url }: Route, { path = {}, query = {} }: Asked): string {
  const filled = url.replace(/:(\w+)/g, (_, name: string) => path[name] ?? name);
  return `${filled}?${new URLSearchParams(query).toString()}`;
}

let asks = 0;

/** By the names of their persons, of each server. */
const credentialsOf = new WeakMap<TestedApi, Map<string, string>>();

function ask(
  api: TestedApi,
  { route, asked, grants, within }: { route: Route; asked: Asked; grants: readonly Grant[]; within?: Owner },
): Promise<LightMyRequestResponse> {
  const { app, credentials } = api;
  const issued = credentialsOf.get(api) ?? new Map<string, string>();
  credentialsOf.set(api, issued);
  asks += 1;
  // A person who has revoked their own credentials calls no further route.
  const name = route === routes.revokeOwnCredentials ? `person-${asks}` : formatGrants(grants);
  const person = { person: name, source: 'command-line', grants } as const;
  const credential = issued.get(name) ?? credentials.issue(person, 'api', 600_000);
  issued.set(name, credential);
  const headers: Record<string, string> = {
    authorization: `Bearer ${credential}`,
    'idempotency-key': `key-${asks}`,
  };
  if (within !== undefined) {
    headers['tollgate-team'] = within.team;
    headers['tollgate-environment'] = within.environment;
  }
  const { method } = route;
  const payload = method === 'GET' ? undefined : (asked.body ?? {});
  // From one address, this many refusals would be too many.
  const remoteAddress = `10.0.${Math.floor(asks / 250) % 250}.${(asks % 250) + 1}`;
  const url = addressOf(route, asked);
  return app.inject({ method, url, headers, remoteAddress, ...(payload && { payload }) });
}

const codeOf = (answer: LightMyRequestResponse): string | undefined =>
  /"code":"(\w+)"/.exec(answer.body)?.[1];

const own: Owner = { team: 'shop', environment: 'sandbox' };
/** Each with whether it covers {@link own}. */
const places: readonly (readonly [grantOf: (role: OperatorRole) => Grant[], isOwn: boolean])[] = [
  [(role) => [parseGrant(`${role}:shop:sandbox`)], true],
  [(role) => [parseGrant(`${role}:shop:production`)], false],
  [(role) => [parseGrant(`${role}:games`)], false],
  // A low role in one place and a high role elsewhere do not combine.
  [(role) => [parseGrant('viewer:games'), parseGrant(`${role}:shop:sandbox`)], true],
  [everywhere, true],
];
/** All of them at night; otherwise one, in turn, so that each route is called for each place by some role. */
const placesAt = (turn: number) =>
  isWholeRun ? places : places.filter((_, index) => (index + turn) % places.length === 0);
const isAll = ([grant]: readonly Grant[]): boolean => grant?.teams === '*';

const covers = ({ teams, environments }: Grant, { team, environment }: Owner): boolean =>
  (teams === '*' || teams.includes(team)) && (environments === '*' || environments.includes(environment));

/** Nothing of a team that is out of reach, and of a team within reach nothing of the other environment. */
function showsOnly(answer: LightMyRequestResponse, grants: readonly Grant[]): void {
  for (const owner of owners)
    if (!grants.some((grant) => covers(grant, owner))) expect(answer.body).not.toContain(markOf(owner));
  for (const team of ['shop', 'games'])
    if (!grants.some(({ teams }) => teams === '*' || teams.includes(team)))
      expect(answer.body).not.toContain(team);
}

/** Reads before commands, so that no read misses an object because of a command. */
const inOrder = (Object.entries(routes) as [keyof Routes, Route][])
  .filter(([, { scopes }]) => scopes !== undefined)
  .toSorted(([, one], [, other]) => Number(one.method !== 'GET') - Number(other.method !== 'GET'));

describe('of every route', () => {
  it('a person reaches the objects of a grant, and learns of no others', async () => {
    const api = await startApi(seed, { isSigning: true });
    await expect
      .poll(async () => {
        const [route, asked] = [routes.listPayoutsOfAll, {}];
        const answer = await ask(api, { route, asked, grants: everywhere('viewer') });
        return answer.json<{ payouts: unknown[] }>().payouts.length;
      })
      .toBe(owners.length);
    await givenDisabledEndpoints(api);
    for (const [turn, [name, route]] of inOrder.entries())
      for (const [place, role] of operatorRoles.entries())
        for (const [grantOf, isOwn] of placesAt(turn + place)) {
          const grants = grantOf(role);
          const story = `${name} as ${formatGrants(grants)}`;
          if (route.bound === undefined) await checkWithin(api, { route, role, grants, isOwn, story });
          else await checkAcross(api, { name: name as AcrossName, route, role, grants, isOwn, story });
        }
  }, 300_000);
});

interface Case {
  route: Route;
  role: OperatorRole;
  grants: readonly Grant[];
  isOwn: boolean;
  story: string;
}

async function checkWithin(api: TestedApi, { route, role, grants, isOwn, story }: Case): Promise<void> {
  const asked = withinOf(route, own);
  const answer = await ask(api, { route, asked, grants, within: own });
  const unknown = await ask(api, { route, asked, grants, within: { ...own, team: 'nobody' } });
  expect(codeOf(unknown), story).toBe('incorrect_team');
  expect(codeOf(await ask(api, { route, asked, grants })), story).toBe('scope_missing');
  if (!isOwn) {
    expect(answer.statusCode, story).toBe(unknown.statusCode);
    expect(codeOf(answer), story).toBe('incorrect_team');
    return;
  }
  const given: readonly string[] = rightsOf[role].within;
  const mayDo = route.scopes?.some((scope) => given.includes(scope)) === true;
  expect(codeOf(answer) === 'scope_missing', story).toBe(!mayDo);
  if (!isAll(grants)) showsOnly(answer, grants);
  // Objects of another team are hidden from a caller that names its own.
  const ofOther = withinOf(route, { team: 'games', environment: 'sandbox' });
  const crossing = await ask(api, { route, asked: ofOther, grants, within: own });
  expect(crossing.body, story).not.toContain('"orderNumber":"games-sandbox"');
}

async function checkAcross(
  api: TestedApi,
  { name, route, role, grants, isOwn, story }: Case & { name: AcrossName },
): Promise<void> {
  const asked = across[name](own);
  const answer = await ask(api, { route, asked, grants });
  const given: readonly string[] = ['self', ...rightsOf[role].across];
  const mayDo = route.scopes?.some((scope) => given.includes(scope)) === true;
  const needsMore = route.bound === 'installation' || (asked.isOfBoth && isOwn);
  if (!mayDo || (needsMore && !isAll(grants))) {
    expect(codeOf(answer), story).toBe('scope_missing');
    return;
  }
  expect(answer.statusCode, `${story}: ${answer.body}`).not.toBe(500);
  if (!isAll(grants)) showsOnly(answer, grants);
  if (isOwn) {
    expect(codeOf(answer), story).not.toBe('scope_missing');
    const isRead = route.method === 'GET' && route.bound === 'teams';
    const shows = asked.shows ?? (isRead ? 'mark' : 'nothing');
    if (shows !== 'nothing') expect(answer.body, story).toContain(shows === 'team' ? 'shop' : markOf(own));
  } else if (isAboutOne({ route, asked })) {
    // The team's existence is no secret to a person who has it in another environment.
    const hasTeam = grants.some(({ teams }) => teams.includes('shop'));
    const nobody = across[name]({ ...own, team: 'nobody' });
    const unknown = codeOf(await ask(api, { route, asked: nobody, grants }));
    expect([unknown, ...(hasTeam ? ['key_not_found', 'scope_missing', undefined] : [])], story).toContain(
      codeOf(answer),
    );
  }
}

/** True if it names its object, and is therefore answered with not found. */
const isAboutOne = ({ route: { url, bound }, asked: { path } }: { route: Route; asked: Asked }): boolean =>
  bound === 'named-team' || (bound === 'teams' && path !== undefined && url.includes(':'));

async function givenDisabledEndpoints(api: TestedApi): Promise<void> {
  const grants = everywhere('admin');
  for (const within of owners) {
    const url = `https://${within.team}.example/${markOf(within)}`;
    const created = await ask(api, {
      route: routes.createWebhookEndpoint,
      asked: { body: { url } },
      grants,
      within,
    });
    const { id } = created.json<{ endpoint: { id: string } }>().endpoint;
    const change = { path: { id }, body: { status: 'disabled' } };
    const changed = await ask(api, {
      route: routes.changeWebhookEndpoint,
      asked: change,
      grants,
      within,
    });
    expect(changed.statusCode).toBe(200);
  }
  await expect
    .poll(async () => (await ask(api, { route: routes.listDisabledEndpoints, asked: {}, grants })).body)
    .toContain(markOf(own));
}

describe('a team lead', () => {
  const start = async () => {
    const api = await startApi(seed, { isSigning: true });
    const grants = [parseGrant('lead:shop:sandbox')];
    const askAsLead = (route: Route, asked: Asked, within?: Owner) =>
      ask(api, { route, asked, grants, ...(within && { within }) });
    return { api, askAsLead };
  };

  it("issues keys of the own team and environment, with at most a lead's scopes", async () => {
    const { askAsLead } = await start();
    const issue = async (changes: object) => {
      const body = { ...own, scopes: ['payments', 'read'], ...changes };
      const answer = await askAsLead(routes.issueKey, { body });
      return codeOf(answer) ?? answer.statusCode;
    };
    const revoked = { path: { keyId: 'shop-first' }, body: { team: 'shop' } };
    expect((await askAsLead(routes.revokeKey, revoked)).statusCode).toBe(200);
    expect(await issue({ scopes: ['payments', 'refunds', 'read', 'stored-cards'] })).toBe(200);
    for (const scope of ['payouts', 'approvals', 'cards', 'admin'])
      expect(await issue({ scopes: ['read', scope] })).toBe('scope_missing');
    expect(await issue({ environment: 'production' })).toBe('scope_missing');
    expect(await issue({ team: 'games' })).toBe('team_not_found');
    const other = { path: { keyId: 'shop-production' }, body: { team: 'shop' } };
    expect(codeOf(await askAsLead(routes.revokeKey, other))).toBe('key_not_found');
  });

  it('answers a review only with resolutions that move no money', async () => {
    const { askAsLead } = await start();
    const answer = (resolution: string) =>
      askAsLead(
        routes.resolveReview,
        {
          path: { token: 'pay_shop-sandbox' },
          body: { code: 'discrepancy', number: 1, resolution, reason: 'spec' },
        },
        own,
      );
    expect(codeOf(await answer('keep_ours'))).toBe('scope_missing');
    expect((await answer('check_again')).statusCode).toBe(200);
  });
});

it('a stored card is charged with its own scope', async () => {
  const api = await startApi(seed);
  const charge = async (role: OperatorRole) => {
    const grants = [parseGrant(`${role}:shop`)];
    const body = { product: 'Tea', amount: 100, currency: 'EUR', orderNumber: role, recurringToken: 'rec_1' };
    return codeOf(await ask(api, { route: routes.createPayment, asked: { body }, grants, within: own }));
  };
  expect(await charge('support')).toBe('scope_missing');
  expect(await charge('lead')).toBe('recurring_token_not_found');
});
