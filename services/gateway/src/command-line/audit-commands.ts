/** `audit` and `audit verify`: the security log. */
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
import { omitUndefined, dayMs } from '@tollgate/service-kit';
import { printable } from '@tollgate/service-kit/command-line';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandResult, CommandTools, RunCommand } from './command.ts';
import { parseInstant } from './parse-time.ts';
import { parseTeamName } from './team-commands.ts';

const limitDefault = 1_000;

interface AuditOptions {
  since: Since;
  team?: string;
  kind?: SecurityEventKind;
  limit: number;
}

/** From the time of the call on. */
type Since = (now: number) => number;

export function registerAuditCommands(program: Command, run: RunCommand): void {
  const audit = program
    .command('audit')
    .description(
      'the security log: whom the gateway did not let in, who changed teams and keys, exported, resolved',
    )
    .addOption(
      new Option(
        '--since <when>',
        'from when on: 7d, a day in UTC such as 2026-11-23, or a time with its zone such as 2026-11-23T08:00Z',
      )
        .argParser(parseSince)
        .default(parseSince('30d'), '30d'),
    )
    .option('--team <name>', 'of one team', parseTeamName)
    .addOption(new Option('--kind <kind>', 'of one kind').choices(Object.keys(securityEventKinds)))
    .option('--limit <count>', 'the last ones at most', parseLimit, limitDefault)
    .action((options: AuditOptions) => run((tools) => showAudit(tools, options)));
  audit
    .command('verify')
    .description(
      'check that nothing in the security log was changed, removed or put in, and print the hash of its last entry; note it elsewhere:\n' +
        'that entries are missing at the end shows only against a hash that was noted before; exit code 1 where something is wrong',
    )
    .option('--head <hash>', 'hash that was noted before', parseHash)
    .action(({ head }: { head?: string }) => run((tools) => verify(tools, head)));
}

function parseSince(text: string): Since {
  const [, days] = /^(\d{1,4})d$/.exec(text) ?? [];
  if (days !== undefined) return (now) => now - Number(days) * dayMs;
  const at = parseInstant(text);
  return () => at;
}

function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number from 1 to 999999.');
  return Number(text);
}

function parseHash(text: string): string {
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new InvalidArgumentError('It must be a hash of 64 hexadecimal digits.');
  return text;
}

/** What changed while no gateway ran is brought into the log first. */
async function catchUp(tools: CommandTools) {
  const { store, teamKeys } = tools;
  if (teamKeys === undefined) throw new RangeError('these tools have no keys for the events of teams');
  const verifier = teamKeys.verifier();
  await recordTeamChanges({ store, verifier, securityLog: createSecurityLog(tools) });
  return { store, verifier };
}

async function showAudit(
  tools: CommandTools,
  { since, team, kind, limit }: AuditOptions,
): Promise<CommandResult> {
  const { store } = await catchUp(tools);
  const entries = await readAudit(store, {
    since: since(tools.clock.now()),
    limit,
    ...omitUndefined({ team, kind }),
  });
  const json = entries.map(({ at, ...entry }) => ({ at: new Date(at).toISOString(), ...entry }));
  return { kind: 'done', text: entries.map(toLine).join('\n') || 'There is no such entry.', json };
}

function toLine({ at, type, actor, data }: AuditEntry): string {
  const shown = Object.entries(data)
    .filter(([name]) => !hidden.includes(name) && (name !== 'stream' || data['team'] === undefined))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return printable([new Date(at).toISOString(), type, toName(actor), ...shown].join('  '));
}

/** In the JSON only. */
const hidden = ['signature', 'from', 'until'];

function toName(actor: AuditEntry['actor']): string {
  if (actor === undefined) return '?';
  return actor.kind === 'team' ? `${actor.team}/${actor.keyId}` : actor.name;
}

async function verify(tools: CommandTools, noted: string | undefined): Promise<CommandResult> {
  const checked = await verifyAudit(await catchUp(tools), noted);
  const faults = faultsOf(checked);
  const { head } = checked;
  const end =
    head === undefined ? 'The security log is empty.' : `Entries: ${head.revision + 1}. Head: ${head.hash}`;
  const text = [...faults, end].join('\n');
  return { kind: 'done', text, json: { ...checked, faults }, exitCode: faults.length === 0 ? 0 : 1 };
}

const sentences = {
  changed: 'was changed, or was not written by a gateway',
  removed: 'does not follow the one before it: entries were removed',
  out_of_order: 'does not follow the one before it: entries were replaced, or put in another order',
  not_in_log: 'is not in the security log',
  gone_or_changed: 'is in the security log, and is not there any more or is another',
} as const;

/** What is wrong, a sentence each. */
export function faultsOf({ fault, hasNoted, teamFaults }: CheckedLog): string[] {
  return [
    ...(fault === undefined ? [] : [`Entry ${fault.revision} ${sentences[fault.kind]}.`]),
    ...(hasNoted === false
      ? ['The noted hash is that of no entry: entries are missing at the end, or the log was rewritten.']
      : []),
    ...teamFaults.map(({ kind, stream, revision }) => `Event ${revision} of ${stream} ${sentences[kind]}.`),
  ];
}

/** Before what leaves no event of its own, or shows a secret. */
export async function recordAction(
  tools: CommandTools,
  command: string,
  detail: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const event = { type: 'OperatorActed', data: { command, detail } } as const;
  await createSecurityLog(tools).record([{ event, actor: tools.person }]);
}
