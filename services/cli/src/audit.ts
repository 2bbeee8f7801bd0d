/** `audit`, `audit verify`: the security log. */
import { omitUndefined } from '@tollgate/service-kit';
import {
  type CommandResult,
  type ValuesOf,
  choice,
  done,
  option,
  optionOr,
  printable,
  wholeNumber,
} from '@tollgate/service-kit/command-line';
import {
  type AuditEntry,
  type CheckedLog,
  type SecurityEventKind,
  createSecurityLog,
  readAudit,
  recordTeamChanges,
  securityEventKinds,
  verifyAudit,
} from '@tollgate/teams';
import * as read from './parameters.ts';
import type { CommandTools } from './tools.ts';

/** First adds changes made while no gateway ran to the log. */
async function catchUp(tools: CommandTools) {
  const { store, teamKeys } = tools;
  const verifier = teamKeys.verifier();
  await recordTeamChanges({ store, verifier, securityLog: createSecurityLog(tools) });
  return { store, verifier };
}

export const auditParameters = {
  since: optionOr(
    'when',
    '7d, a day in UTC such as 2026-11-23, or a time such as 2026-11-23T08:00Z',
    read.since,
    '30d',
  ),
  team: option('name', 'of one team', read.teamName),
  kind: option('kind', 'of one kind', choice(Object.keys(securityEventKinds) as SecurityEventKind[])),
  limit: optionOr('count', 'maximum number of entries; the last ones', wholeNumber(1, 999_999), '1000'),
};

export async function showAudit(
  tools: CommandTools,
  { since, team, kind, limit }: ValuesOf<typeof auditParameters>,
): Promise<CommandResult> {
  const { store } = await catchUp(tools);
  const entries = await readAudit(store, {
    since: since(tools.clock.now()),
    limit,
    ...omitUndefined({ team, kind }),
  });
  const json = entries.map(({ at, ...entry }) => ({ at: new Date(at).toISOString(), ...entry }));
  return done(entries.map(toLine).join('\n') || 'No entry matches.', json);
}

function toLine({ at, type, actor, data }: AuditEntry): string {
  const shown = Object.entries(data)
    .filter(([name]) => !hidden.includes(name) && (name !== 'stream' || data['team'] === undefined))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return printable([new Date(at).toISOString(), type, toName(actor), ...shown].join('  '));
}

/** In the JSON output only. */
const hidden = ['signature', 'from', 'until'];

function toName(actor: AuditEntry['actor']): string {
  if (actor === undefined) return '?';
  return actor.kind === 'team' ? `${actor.team}/${actor.keyId}` : actor.name;
}

export async function verifyLog(
  tools: CommandTools,
  { head: noted }: { head: string | undefined },
): Promise<CommandResult> {
  const checked = await verifyAudit(await catchUp(tools), noted);
  const faults = faultsOf(checked);
  const { head } = checked;
  const end =
    head === undefined ? 'The security log is empty.' : `Entries: ${head.revision + 1}. Head: ${head.hash}`;
  const text = [...faults, end].join('\n');
  return done(text, { ...checked, faults }, faults.length === 0 ? 0 : 1);
}

const sentences = {
  changed: 'was changed, or no gateway wrote it',
  removed: 'does not follow the previous entry: entries were removed',
  out_of_order: 'does not follow the previous entry: entries were replaced or reordered',
  not_in_log: 'is not in the security log',
  gone_or_changed: 'is in the security log, but was removed or changed in its stream',
} as const;

/** The faults found, one sentence each. */
export function faultsOf({ fault, hasNoted, teamFaults }: CheckedLog): string[] {
  return [
    ...(fault === undefined ? [] : [`Entry ${fault.revision} ${sentences[fault.kind]}.`]),
    ...(hasNoted === false
      ? ['No entry has the given hash: entries are missing at the end, or the log was rewritten.']
      : []),
    ...teamFaults.map(({ kind, stream, revision }) => `Event ${revision} of ${stream} ${sentences[kind]}.`),
  ];
}
