/** `secrets …`, `init-signing`: the data secrets, and the keys that sign changes of teams. */
import { rewrapRecurringTokens } from '@tollgate/core';
import { createVault } from '@tollgate/service-kit';
import { type CommandResult, done, refuse } from '@tollgate/service-kit/command-line';
import { createTeamVerifier } from '@tollgate/teams';
import type { CommandTools } from './tools.ts';
import { requireDataSecrets, retireDataSecret } from '@tollgate/event-store';

interface Rewrapped {
  kid: string;
  rewrapped: number;
}

async function rewrap(tools: CommandTools): Promise<Rewrapped> {
  const { store, clock, ids } = tools;
  const secrets = tools.dataSecrets();
  await requireDataSecrets({ store, clock, ids }, secrets);
  const vault = createVault(secrets, ids);
  const [{ kid }] = secrets;
  return { kid, rewrapped: await rewrapRecurringTokens({ store, vault, clock, ids }, kid) };
}

export async function rewrapSecrets(tools: CommandTools): Promise<CommandResult> {
  const { kid, rewrapped } = await rewrap(tools);
  const text = `Re-encrypted ${rewrapped} recurring tokens under ${kid}; all of them are under it now.`;
  return done(text, { kid, rewrapped });
}

export async function retireSecret(
  tools: CommandTools,
  { name: kid, yes }: { name: string; yes: boolean },
): Promise<CommandResult> {
  const [first, ...others] = tools.dataSecrets();
  if (kid === first.kid) return refuse(`${kid} protects new data. Put another secret first.`);
  if (!others.some((each) => each.kid === kid))
    return refuse(`DATA_SECRETS lacks ${kid}, which is needed to read data encrypted under it.`);
  if (!yes)
    return refuse(
      `Repeats of requests that were recorded under ${kid} would be refused as other requests. With --yes, it is retired.`,
    );
  const { rewrapped } = await rewrap(tools);
  await retireDataSecret(tools, kid);
  const text = `Retired ${kid}, after ${rewrapped} recurring tokens were re-encrypted: remove it from DATA_SECRETS everywhere.`;
  return done(text, { retired: kid, rewrapped });
}

/** Creates the keys before the first change of a team. */
export async function initSigning({ teamKeys }: CommandTools): Promise<CommandResult> {
  if (teamKeys.install === undefined) throw new RangeError('this command has no keys for team events');
  const { publicKeys, publicKeysFile } = teamKeys.install();
  const { kids } = createTeamVerifier(publicKeys);
  const where = publicKeysFile === undefined ? '' : ` (${publicKeysFile})`;
  const text = `Team events are checked with ${kids.join(', ')}${where}:\n\n${publicKeys.trim()}`;
  return done(text, { kids, publicKeys, publicKeysFile: publicKeysFile ?? null });
}
