/** What the commands for people share. */
import { createOperatorCredentials, createSecurityLog } from '@tollgate/teams';
import type { CommandTools } from './command.ts';

export const credentialsOf = ({ internalSecrets, directory, clock, ids }: CommandTools) =>
  createOperatorCredentials(internalSecrets?.() ?? directory.internalSecrets(ids), { clock, ids });

export const record = (
  tools: CommandTools,
  command: string,
  detail: Record<string, unknown>,
): Promise<void> =>
  createSecurityLog(tools).record([
    { event: { type: 'OperatorActed', data: { command, detail } }, actor: tools.person },
  ]);
