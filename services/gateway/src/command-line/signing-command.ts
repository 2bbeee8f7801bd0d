/** `init-signing`: the pair of keys that team events are signed and checked with, before the first change of a team. */
import { createTeamVerifier } from '@tollgate/teams';
import type { Command } from 'commander';
import type { CommandResult, CommandTools, RunCommand } from './command.ts';

export function registerSigningCommand(program: Command, run: RunCommand): void {
  program
    .command('init-signing')
    .description(
      'make the keys that changes of teams are signed and checked with, unless there are some;\n' +
        'the private one stays with those who manage teams (TOLLGATE_TEAM_SIGNING_KEY_FILE), every service gets the public one',
    )
    .action(() => run(async ({ teamKeys }) => initialise(teamKeys)));
}

function initialise(teamKeys: CommandTools['teamKeys']): CommandResult {
  if (teamKeys?.install === undefined)
    throw new RangeError('these tools have no keys for the events of teams');
  const { publicKeys, publicKeysFile } = teamKeys.install();
  const { kids } = createTeamVerifier(publicKeys);
  const where = publicKeysFile === undefined ? '' : ` (${publicKeysFile})`;
  const text = `Team events are checked with ${kids.join(', ')}${where}:\n\n${publicKeys.trim()}`;
  return { kind: 'done', text, json: { kids, publicKeys, publicKeysFile: publicKeysFile ?? null } };
}
