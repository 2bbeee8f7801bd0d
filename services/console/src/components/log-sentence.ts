/** Formats an entry of the security log as a sentence: the actor, the change, and the value before and after. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { securityLogTexts } from '../security-log-texts.ts';
import { amountText } from './amount.ts';
import { teamPath } from './keys.ts';
import { operationPath } from './payment-list.ts';
import { shortToken } from './token.ts';

const words = securityLogTexts;

export type LogEntry = AnswerOf<'SecurityLog'>['entries'][number];

type Data = LogEntry['data'];

const text = (data: Data, name: string): string => (typeof data[name] === 'string' ? data[name] : '');
const part = (data: Data, name: string): Data => Object(data[name]) as Data;
const list = (value: unknown): string =>
  Array.isArray(value) && value.length > 0 ? value.join(', ') : words.nothing;

export function logSentence({ type, actor, data }: LogEntry): Html | string {
  const who = whoOf(actor);
  const { says } = words;
  const count = Number(data['count'] ?? 1);
  switch (type) {
    case 'TeamChanged':
      return changeSentence(who, data);
    case 'AccessRefused':
      return says.refused(count, text(data, 'address'), text(data, 'code'), callOf(data));
    case 'ExportMade':
      return says.exported(text(data, 'keyId'), text(data, 'team'), text(data, 'route'), count);
    case 'ReviewResolutionAsked': {
      const token = text(data, 'token');
      const [code, resolution] = [plain(data, 'code'), plain(data, 'resolution')];
      const decided = words.payouts[text(data, 'resolution')];
      return html`${decided === undefined ? says.resolved(who, code, resolution) : decided(who)}
        <a href="${operationPath(token)}" title="${token}">${shortToken(token)}</a>.`;
    }
    case 'TeamEventRejected':
      return says.ignored(Number(data['revision']), text(data, 'stream'), plain(data, 'reason'));
    case 'OperatorActed':
      return commandSentence(who, data);
    default:
      return type;
  }
}

const plain = (data: Data, name: string): string => text(data, name).replaceAll('_', ' ');

const callOf = (data: Data): string =>
  [text(data, 'method'), text(data, 'route')].filter((each) => each !== '').join(' ');

function whoOf(actor: LogEntry['actor']): string {
  if (actor === undefined) return words.unknown;
  const { kind, name = '', team = '', keyId = '' } = actor;
  if (kind === 'team') return words.key(keyId, team);
  return kind === 'service' ? words.service(name) : name;
}

/** A command is named after its route or command line. */
function commandSentence(who: string, data: Data): Html | string {
  const command = text(data, 'command');
  const detail = part(data, 'detail');
  const done = words.commands[command];
  const about = ['token', 'team', 'keyId', 'account'].flatMap((name) => text(detail, name) || []);
  const shown = about.length === 0 ? '' : ` (${about.map(shortToken).join(', ')})`;
  return done === undefined
    ? html`${words.says.ran(who)} <code>${command}</code>${shown}.`
    : `${who} ${done}${shown}.`;
}

function changeSentence(who: string, data: Data): Html {
  const [detail, before] = [part(data, 'detail'), part(data, 'before')];
  const name = text(data, 'team');
  const team = html`<a href="${teamPath(name)}">${name}</a>`;
  const { says } = words;
  switch (text(data, 'change')) {
    case 'TeamAdded':
      return html`${says.added(who)} ${team}.`;
    case 'KeyIssued':
      return html`${says.issued(who, text(detail, 'keyId'))} ${team}: ${list(detail['scopes'])}.`;
    case 'KeyRevoked':
      return html`${says.revoked(who, text(detail, 'keyId'))}
      ${team}${text(detail, 'reason') === 'replaced' ? says.replaced : ''}.`;
    case 'WebhookSecretRotated':
      return html`${says.rotated(who)} ${team}.`;
    case 'OriginsAllowed': {
      const what = words.purposes[text(detail, 'purpose')] ?? '';
      return html`${says.changed(who, what)}
      ${team}${fromTo(list(before['origins']), list(detail['origins']))}`;
    }
    case 'WalletChosen':
      return html`${says.changed(who, words.wallet)}
      ${team}${fromTo(walletText(part(before, 'wallet')), walletText(part(detail, 'wallet')))}`;
    case 'ApprovalRequired':
      return html`${sumSentence(who, words.threshold, { team, currency: text(detail, 'currency') }, [before['above'], detail['above']])}.`;
    case 'MoneyLimited':
      return limitSentence(who, team, { detail, before });
    default:
      return html`${says.changed(who, text(data, 'change'))} ${team}.`;
  }
}

const fromTo = (before: string, after: string): string => words.says.fromTo(before, after);

function limitSentence(who: string, team: Html, { detail, before }: { detail: Data; before: Data }): Html {
  const operation = text(detail, 'operation');
  const currency = text(detail, 'currency');
  const keyId = text(detail, 'keyId');
  const whose = keyId === '' ? team : html`${team}, ${words.ofKey(keyId)}`;
  const changed = (['perDay', 'perCall'] as const)
    .map((name) => ({ name: words[name](operation), sums: [before[name], detail[name]] as const }))
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
  const { says } = words;
  const shown = (sum: number): string => amountText(sum, currency);
  if (typeof after !== 'number')
    return html`${says.removed(who, what)} ${team}${typeof before === 'number' ? says.was(shown(before)) : ''}`;
  if (typeof before !== 'number') return html`${says.set(who, what)} ${team} ${says.to(shown(after))}`;
  const verb = after > before ? says.raised : says.lowered;
  return html`${verb(who, what)} ${team}${says.fromTo(shown(before), shown(after)).replace(/\.$/, '')}`;
}

function walletText(wallet: Data): string {
  const kind = text(wallet, 'kind');
  if (kind === 'shared') return `the shared wallet ${text(wallet, 'name')}`;
  return kind === 'provider' ? "the provider's balance" : "the team's own wallet";
}
