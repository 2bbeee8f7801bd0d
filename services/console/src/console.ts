/**
 * The console for people: server-rendered pages on top of the public API. It is stateless: the session is in a cookie,
 * all data comes from the API, and all actions go through it.
 */
import { type Clock, type Ids, type Log, parseForm } from '@tollgate/service-kit';
import type { OperatorCredentials } from '@tollgate/teams';
import type { FastifyInstance } from 'fastify';
import { createApi } from './api.ts';
import { type ConsoleKit, addAction, addPage, createRefresh, send } from './page.ts';
import { addFile } from './pages/export.ts';
import { failurePage } from './pages/failure.ts';
import { journalPage } from './pages/journal.ts';
import { moneyPage } from './pages/money.ts';
import { overviewPage } from './pages/overview.ts';
import { actOn, inquireNow, paymentPage } from './pages/payment.ts';
import { removeView, saveView } from './components/payment-views.ts';
import { paymentsPage } from './pages/payments.ts';
import { compareDestination, decidePayout, payoutPage } from './pages/payout.ts';
import { payoutsPage } from './pages/payouts.ts';
import { reconciliationPage } from './pages/reconciliation.ts';
import { askReconciliation, reconciliationsPage } from './pages/reconciliations.ts';
import { disputesPage } from './pages/disputes.ts';
import { refundsPage } from './pages/refunds.ts';
import { requestsPage } from './pages/requests.ts';
import { decideReview, reviewPage } from './pages/review.ts';
import { reviewsPage } from './pages/reviews.ts';
import { type SandboxControls, moveClock, playScenario, sandboxPage } from './pages/sandbox.ts';
import { accountChanges, changeAccount, reloadAccounts } from './pages/account-changes.ts';
import { accountsPage } from './pages/accounts.ts';
import { peoplePage, revokeCredentials } from './pages/people.ts';
import { registerSuggestions, searchPage } from './pages/search.ts';
import { organizationPath, registerOrganizationSignIn } from './pages/organization-sign-in.ts';
import { registerSignIn } from './pages/sign-in.ts';
import { replayMany, replayOne, webhooksPage } from './pages/webhooks.ts';
import { securityLogPage } from './pages/security-log.ts';
import { type IdentityProviderConfig, createIdentityProvider } from './session/identity-provider.ts';
import { createSessions } from './session/sessions.ts';
import { readAssets, registerAssets } from './static-files.ts';
import { issueKey, revokeKey, teamPage } from './pages/team.ts';
import { addTeam, teamsPage } from './pages/teams.ts';
import { texts } from './texts.ts';

export interface ConsoleDependencies {
  credentials: OperatorCredentials;
  /** Sign-in links by their short form. */
  shortLinks?: ReadonlyMap<string, string>;
  clock: Clock;
  ids: Pick<Ids, 'hex'>;
  log: Log;
  /** Absent without a sandbox. */
  sandbox?: SandboxControls;
  /** Sign-in with the organization's accounts. */
  identityProvider?: IdentityProviderConfig;
  /** A browser that reads nothing of a file for this long is disconnected. @default 30,000 @unit milliseconds */
  exportStalledMs?: number;
}

/** A reason has at most 1,000 characters, of up to four bytes each. */
const formBytesMax = 16 * 1024;

/** Adds the console to the server that answers the API. */
export async function registerConsole(app: FastifyInstance, deps: ConsoleDependencies): Promise<void> {
  const { credentials, shortLinks = new Map(), clock, ids, log, sandbox, identityProvider } = deps;
  const { exportStalledMs = 30_000 } = deps;
  const assets = readAssets();
  await app.register(async (scope) => {
    const inject: FastifyInstance['inject'] = scope.inject.bind(scope);
    const apiOf = (bearer: () => string, address: string) => createApi({ inject }, bearer, address);
    const sessions = createSessions({ credentials, clock, apiOf });
    const kit: ConsoleKit = {
      assets,
      clock,
      ids,
      mac: credentials.mac,
      hasSandbox: sandbox !== undefined,
      refresh: createRefresh(clock),
      exportStalledMs,
      organization: identityProvider && organizationPath,
      publicUrl: identityProvider?.publicUrl,
      sessions,
      apiOf: (session, address) => apiOf(() => sessions.bearerOf(session), address),
    };
    acceptForms(scope);
    answerInPages(scope, kit, log);
    registerAssets(scope, assets);
    registerSignIn(scope, kit, { credentials, shortLinks, apiOf });
    if (identityProvider !== undefined) {
      const provider = createIdentityProvider(identityProvider, { clock });
      registerOrganizationSignIn(scope, kit, { provider, credentials, log });
    }
    registerPages(scope, kit, sandbox);
    registerSuggestions(scope, kit);
    if (sandbox !== undefined) registerSandbox(scope, kit, sandbox);
  });
}

function registerPages(app: FastifyInstance, kit: ConsoleKit, sandbox: SandboxControls | undefined): void {
  app.get('/', async (_request, reply) => reply.redirect('/console', 303));
  addPage(app, kit, '/console', overviewPage);
  addPage(app, kit, '/console/search', searchPage);
  addPage(app, kit, '/console/payments', paymentsPage);
  addAction(app, kit, '/console/payments/views', saveView);
  addAction(app, kit, '/console/payments/views/remove', removeView);
  addPage(app, kit, '/console/payments/:token', paymentPage);
  for (const name of ['capture', 'void', 'refund'] as const)
    addAction(app, kit, `/console/payments/:token/${name}`, actOn(name));
  addAction(app, kit, '/console/payments/:token/inquire', inquireNow);
  addPage(app, kit, '/console/payouts', payoutsPage);
  addPage(app, kit, '/console/payouts/:token', payoutPage);
  for (const decision of ['approve', 'refuse'] as const)
    addAction(app, kit, `/console/payouts/:token/${decision}`, decidePayout(decision));
  addAction(app, kit, '/console/payouts/:token/compare', compareDestination);
  addPage(app, kit, '/console/money', moneyPage);
  addPage(app, kit, '/console/money/journal', journalPage);
  addPage(app, kit, '/console/refunds', refundsPage);
  addPage(app, kit, '/console/disputes', disputesPage);
  addPage(app, kit, '/console/requests', requestsPage);
  addPage(app, kit, '/console/reconciliations', reconciliationsPage);
  addAction(app, kit, '/console/reconciliations', askReconciliation);
  addPage(app, kit, '/console/reconciliations/:token', reconciliationPage);
  addPage(app, kit, '/console/accounts', accountsPage);
  for (const name of accountChanges) addAction(app, kit, `/console/accounts/${name}`, changeAccount(name));
  addAction(app, kit, '/console/accounts/reload', reloadAccounts);
  addPage(app, kit, '/console/teams', teamsPage);
  addAction(app, kit, '/console/teams', addTeam);
  addPage(app, kit, '/console/teams/:team', teamPage);
  addAction(app, kit, '/console/teams/:team/keys', issueKey);
  addAction(app, kit, '/console/teams/:team/keys/revoke', revokeKey);
  addPage(app, kit, '/console/security-log', securityLogPage);
  addPage(app, kit, '/console/people', peoplePage);
  addAction(app, kit, '/console/people', revokeCredentials);
  addPage(app, kit, '/console/webhooks', webhooksPage);
  addAction(app, kit, '/console/webhooks/replay', replayMany);
  addAction(app, kit, '/console/webhooks/:webhook/replay', replayOne);
  addPage(app, kit, '/console/reviews', reviewsPage);
  addPage(app, kit, '/console/reviews/:token/:code/:number', reviewPage);
  addAction(app, kit, '/console/reviews/:token/:code/:number', decideReview);
  for (const name of ['payments', 'refunds', 'disputes', 'journal', 'statements'])
    addFile(app, kit, `${name}.csv`);
  addPage(app, kit, '/console/sandbox', sandboxPage(sandbox));
  addPage(app, kit, '/console/*', async () => failurePage(404, 'Page not found', texts.errors.notFoundText));
}

function registerSandbox(app: FastifyInstance, kit: ConsoleKit, sandbox: SandboxControls): void {
  addAction(app, kit, '/console/sandbox/payments', playScenario(sandbox));
  addAction(app, kit, '/console/sandbox/clock', moveClock(sandbox));
}

/** The only content type that pages accept. */
function acceptForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: formBytesMax },
    async (_request: unknown, body: string | Buffer) => parseForm(String(body)),
  );
}

function answerInPages(app: FastifyInstance, kit: ConsoleKit, log: Log): void {
  app.setErrorHandler((error, request, reply) => {
    const status = statusOf(error);
    if (status >= 500)
      log.error({ error, route: request.routeOptions.url ?? '' }, 'a page of the console failed');
    return send(kit, request, reply, failurePage(status, texts.errors.title, texts.errors.unavailable));
  });
}

const statusOf = (error: unknown): number =>
  error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
    ? error.statusCode
    : 500;
