/** Formats an entry of the security log as a sentence: the actor, the change, and the value before and after. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { amountText } from './amount.ts';
import { teamPath } from './keys.ts';
import { operationLink, shortToken } from './token.ts';

export type LogEntry = AnswerOf<'SecurityLog'>['entries'][number];

type Data = LogEntry['data'];

/** Changes of teams. */
export const changeNames = {
  TeamAdded: 'Team added',
  KeyIssued: 'Key issued',
  KeyRevoked: 'Key revoked',
  MoneyLimited: 'Limit',
  ApprovalRequired: 'Approval threshold',
  WalletChosen: 'Source of payouts',
  OriginsAllowed: 'Origins',
  WebhookSecretRotated: 'Webhook secret',
};

/** A command is named after its route or command line. */
const commandNames: Readonly<Record<string, string>> = {
  'POST /api/v1/admin/keys': 'requested a key',
  'POST /api/v1/admin/keys/:keyId/revoke': 'requested the revocation of a key',
  'POST /api/v1/admin/teams': 'requested a team',
  'POST /api/v1/admin/teams/:team/origins': 'requested allowed origins',
  'POST /api/v1/admin/teams/:team/wallet': 'requested a source of payouts',
  'POST /api/v1/admin/teams/:team/approvals': 'requested an approval threshold',
  'POST /api/v1/admin/teams/:team/limits': 'requested a limit',
  'POST /api/v1/admin/accounts/:environment/:account/pause': 'paused an account',
  'POST /api/v1/admin/accounts/:environment/:account/drain': 'drained an account',
  'POST /api/v1/admin/accounts/:environment/:account/resume': 'resumed an account',
  'POST /api/v1/admin/accounts/reload': 'reloaded the accounts file',
  'POST /api/v1/admin/webhooks/replay': 'resent webhooks',
  'POST /api/v1/admin/reconciliations': 'requested a reconciliation',
  'POST /api/v1/refunds': 'requested a refund',
  'POST /api/v1/payments/capture': 'requested a capture',
  'POST /api/v1/payments/void': 'requested a void',
  'POST /api/v1/payments': 'created a payment',
  'POST /api/v1/admin/sign-ins': 'signed in',
  'operator link': 'issued a sign-in link',
};

const payoutDecisions: Readonly<Record<string, string>> = {
  approve: 'approved',
  refuse: 'refused',
  destination_confirmed: 'confirmed the account number of',
  destination_differs: 'compared another account number with',
};

const text = (data: Data, name: string): string => (typeof data[name] === 'string' ? data[name] : '');
const plain = (data: Data, name: string): string => text(data, name).replaceAll('_', ' ');
const part = (data: Data, name: string): Data => Object(data[name]) as Data;
const list = (value: unknown): string =>
  Array.isArray(value) && value.length > 0 ? value.join(', ') : 'none';

export function logSentence({ type, actor, data }: LogEntry): Html | string {
  const who = whoOf(actor);
  switch (type) {
    case 'TeamChanged':
      return changeSentence(who, data);
    case 'AccessRefused':
      return refusalSentence(data);
    case 'ExportMade': {
      const count = Number(data['count'] ?? 1);
      const times = count === 1 ? '' : ` ${count} times`;
      return `${holderOf(text(data, 'keyId'), text(data, 'team'))} exported ${text(data, 'route')}${times}.`;
    }
    case 'ReviewResolutionAsked': {
      const token = text(data, 'token');
      const decided = payoutDecisions[text(data, 'resolution')];
      const did =
        decided === undefined
          ? `resolved “${plain(data, 'code')}” with “${plain(data, 'resolution')}”:`
          : `${decided} payout`;
      return html`${who} ${did} ${operationLink(token)}.`;
    }
    case 'TeamEventRejected':
      return `Event ${Number(data['revision'])} of ${text(data, 'stream')} is ignored: ${plain(data, 'reason')}.`;
    case 'OperatorActed':
      return commandSentence(who, data);
    default:
      return type;
  }
}

function refusalSentence(data: Data): string {
  const count = Number(data['count'] ?? 1);
  const call = [text(data, 'method'), text(data, 'route')].filter((each) => each !== '').join(' ');
  const what = count === 1 ? 'A request' : `${count} requests`;
  const were = count === 1 ? 'was' : 'were';
  const about = call === '' ? '' : `: ${call}`;
  return `${what} from ${text(data, 'address')} ${were} rejected with ${text(data, 'code')}${about}.`;
}

/** A person's credential has the id `person:<name>`. */
const holderOf = (keyId: string, team: string): string =>
  keyId.startsWith('person:') ? keyId.slice('person:'.length) : `Key ${keyId} of team ${team}`;

function whoOf(actor: LogEntry['actor']): string {
  if (actor === undefined) return 'Unknown';
  const { kind, name = '', team = '', keyId = '' } = actor;
  if (kind === 'team') return holderOf(keyId, team);
  return kind === 'service' ? `The service ${name}` : name;
}

function commandSentence(who: string, data: Data): Html | string {
  const command = text(data, 'command');
  const detail = part(data, 'detail');
  const done = commandNames[command];
  const about = ['token', 'team', 'keyId', 'account'].flatMap((name) => text(detail, name) || []);
  const shown = about.length === 0 ? '' : ` (${about.map(shortToken).join(', ')})`;
  return done === undefined ? html`${who} ran <code>${command}</code>${shown}.` : `${who} ${done}${shown}.`;
}

function changeSentence(who: string, data: Data): Html {
  const [detail, before] = [part(data, 'detail'), part(data, 'before')];
  const name = text(data, 'team');
  const team = html`<a href="${teamPath(name)}">${name}</a>`;
  const keyId = text(detail, 'keyId');
  const changed = (what: string, from: string, to: string) =>
    html`${who} changed the ${what} of team ${team} from ${from} to ${to}.`;
  switch (text(data, 'change')) {
    case 'TeamAdded':
      return html`${who} added team ${team}.`;
    case 'KeyIssued':
      return html`${who} issued key ${keyId} to team ${team}: ${list(detail['scopes'])}.`;
    case 'KeyRevoked':
      return html`${who} revoked key ${keyId} of team ${team}.`;
    case 'WebhookSecretRotated':
      return html`${who} rotated the webhook secret of team ${team}.`;
    case 'OriginsAllowed': {
      const what = text(detail, 'purpose') === 'callback' ? 'webhook origins' : 'redirect origins';
      return changed(what, list(before['origins']), list(detail['origins']));
    }
    case 'WalletChosen':
      return changed(
        'source of payouts',
        walletText(part(before, 'wallet')),
        walletText(part(detail, 'wallet')),
      );
    case 'ApprovalRequired': {
      const owner = { team, currency: text(detail, 'currency') };
      const sums = [before['above'], detail['above']] as const;
      return html`${sumSentence(who, 'payout approval threshold', owner, sums)}.`;
    }
    case 'MoneyLimited':
      return limitSentence(who, team, { detail, before });
    default:
      return html`${who} changed the ${text(data, 'change')} of team ${team}.`;
  }
}

function limitSentence(who: string, team: Html, { detail, before }: { detail: Data; before: Data }): Html {
  const operation = text(detail, 'operation');
  const currency = text(detail, 'currency');
  const keyId = text(detail, 'keyId');
  const whose = keyId === '' ? team : html`${team}, key ${keyId},`;
  const names = { perDay: `daily ${operation} limit`, perCall: `${operation} limit per call` };
  const changed = Object.entries(names)
    .map(([field, name]) => ({ name, sums: [before[field], detail[field]] as const }))
    .filter(({ sums: [old, now] }) => (old ?? null) !== (now ?? null));
  const sentences = changed.map(
    ({ name, sums }) => html`${sumSentence(who, name, { team: whose, currency }, sums)}. `,
  );
  return html`${sentences}`;
}

/** Raised, lowered, set or removed. */
function sumSentence(
  who: string,
  what: string,
  { team, currency }: { team: Html; currency: string },
  [before, after]: readonly [unknown, unknown],
): Html {
  const shown = (sum: number): string => amountText(sum, currency);
  const did = (verb: string): Html => html`${who} ${verb} the ${what} of team ${team}`;
  if (typeof after !== 'number')
    return html`${did('removed')}${typeof before === 'number' ? `, which was ${shown(before)}` : ''}`;
  if (typeof before !== 'number') return html`${did('set')} to ${shown(after)}`;
  return html`${did(after > before ? 'raised' : 'lowered')} from ${shown(before)} to ${shown(after)}`;
}

function walletText(wallet: Data): string {
  const kind = text(wallet, 'kind');
  if (kind === 'shared') return `the shared wallet ${text(wallet, 'name')}`;
  return kind === 'provider' ? "the provider's balance" : "the team's own wallet";
}
