/** Every command of `tollgate`: name, description, parameters and function. */
import {
  type Command,
  argument,
  atLeastOne,
  choice,
  commandsOf,
  exactlyOne,
  flag,
  list,
  option,
  optionOr,
  optionalArgument,
  requiredOption,
  text,
  wholeNumber,
} from '@tollgate/service-kit/command-line';
import { scopes } from '@tollgate/teams';
import * as accounts from './accounts.ts';
import { adopt, adoptParameters } from './adopt.ts';
import { auditParameters, showAudit, verifyLog } from './audit.ts';
import { back, compact, verify } from './backups.ts';
import * as keys from './keys.ts';
import { verifyLedger } from './ledger.ts';
import * as operators from './operators.ts';
import * as read from './parameters.ts';
import { rebuildViews } from './rebuild.ts';
import { reconcile, reconcileParameters } from './reconcile.ts';
import { restore } from './restore.ts';
import * as secrets from './secrets.ts';
import * as teams from './teams.ts';
import type { ActingTools } from './tools.ts';
import { checkTopics, republish, tail, topicPlace } from './topics.ts';
import { checkUpgrade, finishUpgrade } from './upgrade.ts';
import * as webhooks from './webhooks.ts';

const command = commandsOf<ActingTools>();

export const commands: readonly Command<ActingTools>[] = [
  command(
    'team add',
    'add a team; its keys are issued by `key issue`',
    { name: argument('name', 'lower-case letters, digits and hyphens', read.teamName) },
    teams.addTeam,
  ),
  command('team list', 'show all teams', {}, teams.listTeams),
  command('team show', 'show a team: keys, URLs, wallet, limits', { team: read.team }, teams.showTeam),
  command(
    'team allow-origins',
    'set the allowed origins of a team; each list replaces the previous one\n' +
      'an origin is https://host[:port], or of this machine: http://localhost:8080, http://127.0.0.1:* (any port)',
    {
      team: read.team,
      callback: list('origin', 'allowed origins of webhooks; none by default', text),
      withoutCallback: flag('send the team no webhooks'),
      redirect: list(
        'origin',
        'allowed origins of redirects after a payment; any https URL by default',
        text,
      ),
      withoutRedirect: flag('send customers nowhere'),
    },
    teams.allowOrigins,
    atLeastOne('callback', 'withoutCallback', 'redirect', 'withoutRedirect'),
  ),
  command(
    'team wallet',
    'set the source of the payouts of a team',
    {
      team: read.team,
      own: flag("the team's own wallet"),
      shared: option('wallet', 'a wallet shared by all teams that name it', read.walletName),
      providerBalance: flag("the provider's balance, including the money of other teams"),
    },
    teams.chooseWallet,
    exactlyOne('own', 'shared', 'providerBalance'),
  ),
  command(
    'team approval',
    'require approval of payouts above a sum, by another key with the scope approvals',
    {
      team: read.team,
      environment: read.environmentOf('of the payouts'),
      currency: requiredOption('code', 'ISO 4217 alphabetic code in capitals', read.currency),
      above: option('sum', 'in minor units; 0: every payout waits', read.sumFrom(0)),
      none: flag('no payout waits'),
    },
    teams.requireApproval,
    exactlyOne('above', 'none'),
  ),
  command(
    'team limit',
    'limit the amounts of a team or key per call and per day (UTC)\n' +
      'each limit replaces the previous one; an omitted sum is not limited',
    teams.limitParameters,
    teams.limitMoney,
    (values) =>
      values.none
        ? exactlyOne('none', 'perCall', 'perDay')(values)
        : atLeastOne('perCall', 'perDay', 'none')(values),
  ),
  command(
    'key issue',
    'issue a key and print it once; two per environment may be active, so that one can replace the other',
    {
      team: read.team,
      environment: read.environmentOf('environment of the key'),
      scopes: requiredOption('scopes', `separated by commas: ${scopes.join(', ')}`, read.scopeList),
      requestsPerSecond: option('count', 'rate limit instead of the default', wholeNumber(1, 100_000)),
      expires: option('when', '90d, or a day such as 2027-03-31 (its end, UTC)', read.expiry),
      networks: option('networks', 'only from these: 10.20.0.0/16,2001:db8::/32', read.items),
    },
    keys.issueKey,
  ),
  command(
    'key revoke',
    'revoke a key permanently; takes effect within a second',
    { team: read.team, keyId: argument('keyId', 'its id, or the whole key', text) },
    keys.revokeKey,
  ),
  command('key list', 'show the keys of a team, or of all', { team: read.optionalTeam }, keys.listKeys),
  command(
    'init-signing',
    'create the keys that sign and verify changes of teams, if there are none\n' +
      'only the hosts that manage teams need the private key (TOLLGATE_TEAM_SIGNING_KEY_FILE); every service needs the public one',
    {},
    secrets.initSigning,
  ),
  command(
    'operator link',
    'print a link that signs the person (--as) in to the console, once, within 15 minutes',
    {
      ...read.grants,
      url: option('url', 'address of the gateway; default: that in quickstart.json', read.gatewayOrigin),
    },
    operators.printLink,
  ),
  command(
    'operator token',
    'print a credential with which the person (--as) calls the API instead of a key',
    {
      ...read.grants,
      hours: optionOr('hours', 'until it expires', wholeNumber(1, 24 * 31), '8'),
    },
    operators.printToken,
  ),
  command(
    'operator list',
    'list the tokens and sessions of people; their secrets are never shown',
    { person: option('name', 'only those of this person', text) },
    operators.listCredentials,
  ),
  command(
    'operator revoke',
    'revoke a token or session, or everything of a person; takes effect within a second',
    {
      id: optionalArgument('id', 'its id, from the list', text),
      person: option('name', 'everything of this person, including unused sign-in links', text),
    },
    operators.revokeCredentials,
    ({ id, person }) =>
      (id === undefined) === (person === undefined) ? 'Give exactly one of <id> and --person' : undefined,
  ),
  command(
    'account list',
    'list the accounts with their states, and when, by whom and why each was changed',
    {},
    accounts.listAccounts,
  ),
  command(
    'account pause',
    'make no call that moves money through an account; inquiries and callbacks continue',
    read.onAccount,
    accounts.changeTo('pause', 'paused'),
  ),
  command(
    'account drain',
    'give an account no new payments and payouts; existing ones continue',
    read.onRestored,
    accounts.changeTo('drain', 'draining'),
  ),
  command(
    'account resume',
    'resume a paused or drained account',
    read.onRestored,
    accounts.changeTo('resume', 'active'),
  ),
  command(
    'account reload',
    'reload the accounts file (PROVIDER_ACCOUNTS_FILE) in every process',
    {},
    accounts.reloadAccounts,
  ),
  command('secrets rewrap', 're-encrypt all data under the first of DATA_SECRETS', {}, secrets.rewrapSecrets),
  command(
    'secrets retire',
    're-encrypt, then retire a data secret; repeats of requests recorded under it are refused from then on',
    {
      name: argument('name', 'its name, the part before the colon', text),
      yes: flag('do it; otherwise only print what would be done'),
    },
    secrets.retireSecret,
  ),
  command(
    'audit',
    'the security log: rejected callers, changes of teams and keys, exports, resolved reviews',
    auditParameters,
    showAudit,
  ),
  command(
    'audit verify',
    'check that no entry of the security log was changed, removed or inserted, and print the hash of the last entry\n' +
      'store that hash elsewhere: only it reveals missing entries at the end; exit code 1 if the check fails',
    { head: option('hash', 'a hash that was stored before', read.hash) },
    verifyLog,
  ),
  command(
    'webhook secret',
    'print the secret that a team verifies its webhooks with',
    read.ofWebhooks,
    webhooks.showSecrets,
  ),
  command(
    'webhook rotate',
    'give a team a new secret, of all its endpoints or of one origin\n' +
      'for a while webhooks carry the signatures of both secrets, so that receivers can change over',
    {
      ...read.ofWebhooks,
      overlap: optionOr(
        'days',
        'time during which both sign; 0d if the old secret has leaked',
        read.days,
        '7d',
      ),
    },
    webhooks.rotateSecret,
  ),
  command(
    'tail',
    'print the records of a topic as lines of JSON; consumers are not affected',
    {
      topic: argument('topic', read.topicNames.join(', '), choice(read.topicNames)),
      key: option('token', 'only those of this payment, payout or dispute', text),
      from: option(
        'place',
        'beginning, end, or a time such as 2030-01-31T12:00:00Z (default: beginning, or end with --follow)',
        topicPlace,
      ),
      follow: flag('show new records until Ctrl-C'),
    },
    tail,
    ({ from, follow }) => (from === 'end' && !follow ? '--from end needs --follow' : undefined),
  ),
  command(
    'rebuild',
    'rebuild all views from the events and write those that differ; the gateway may run',
    { check: flag('only compare views and index with the events, and name what differs') },
    rebuildViews,
  ),
  command(
    'ledger verify',
    'recompute the balances of all wallets from the events and compare those of the index; the gateway may run\n' +
      'exit code 1 with each difference',
    {},
    verifyLedger,
  ),
  command(
    'upgrade check',
    'read the whole event store with this release and report what it cannot read; changes nothing',
    {},
    checkUpgrade,
  ),
  command(
    'upgrade finish',
    'raise the schema version of the store to that of this release; the previous release can then no longer start',
    {},
    finishUpgrade,
  ),
  command('topics create', 'create missing topics on Kafka', read.kafka, checkTopics('ensureTopics')),
  command(
    'topics check',
    'compare the topics on Kafka with their settings',
    read.kafka,
    checkTopics('checkTopics'),
  ),
  command(
    'topics republish',
    'have the publisher fill topics that were deleted or have lost their last records',
    {},
    republish,
  ),
  command(
    'backup',
    'copy the embedded event store into a folder while the gateway runs',
    {
      folder: argument('folder', 'new or empty folder, on another disk', text),
      withSecrets: flag('include the secrets of the data directory'),
    },
    back,
  ),
  {
    ...command(
      'backup verify',
      'read a backup and report whether a gateway can be restored from it; needs no gateway\nexit code 1 if something is wrong',
      { folder: read.backupFolder },
      verify,
    ),
    isAlone: true,
  },
  command(
    'restore',
    'restore a backup into an empty data directory: all accounts are paused, payouts that awaited approval are void\n' +
      'the lost days must be reconciled before an account resumes; docs/operator/backup-and-restore.md',
    {
      backup: optionalArgument('backup', 'folder of the backup', text),
      storeWasRestored: flag('EventStoreDB was restored by its own tools: only begin the epoch'),
    },
    restore,
    ({ backup, storeWasRestored }) =>
      (backup === undefined) === storeWasRestored
        ? undefined
        : 'Give exactly one of <backup> and --store-was-restored',
  ),
  command(
    'compact',
    'return unused space of the embedded event store to the disk; stop the gateway first',
    {},
    compact,
  ),
  command(
    'reconcile',
    "have the running gateway compare an account's payments and payouts with the Payment Service; exit code 1 if something differs",
    reconcileParameters,
    reconcile,
  ),
  command(
    'adopt',
    'adopt existing payments of an account, and their recurring tokens, for a team\n' +
      'moves no money, and can be stopped and repeated',
    adoptParameters,
    adopt,
  ),
];
