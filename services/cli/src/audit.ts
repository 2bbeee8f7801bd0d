/** `audit verify`: the security log. */
import { type CommandResult, done } from '@tollgate/service-kit/command-line';
import { type CheckedLog, createSecurityLog, recordTeamChanges, verifyAudit } from '@tollgate/teams';
import type { CommandTools } from './tools.ts';

/** First adds changes made while no gateway ran to the log. */
async function catchUp(tools: CommandTools) {
  const { store, teamKeys } = tools;
  const verifier = teamKeys.verifier();
  await recordTeamChanges({ store, verifier, securityLog: createSecurityLog(tools) });
  return { store, verifier };
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
