/** `secrets …`, `init-signing`: the data secrets, and the keys that sign changes of teams. */
import { createVault } from '@tollgate/service-kit';
import { argument, done, flag, refuse, text } from '@tollgate/service-kit/command-line';
import { createTeamVerifier } from '@tollgate/teams';
import { requireDataSecrets, retireDataSecret } from '@tollgate/event-store';
import { rewrapRecurringTokens } from './rewrap-recurring-tokens.ts';
import { type CommandTools, command } from './tools.ts';

async function rewrap(tools: CommandTools) {
  const { store, clock, ids } = tools;
  const secrets = tools.dataSecrets();
  await requireDataSecrets({ store, clock, ids }, secrets);
  const vault = createVault(secrets, ids);
  const [{ kid }] = secrets;
  return { kid, rewrapped: await rewrapRecurringTokens({ store, vault, clock, ids }, kid) };
}

export const signingCommand = command(
  'init-signing',
  'create the keys that sign and verify changes of teams, if there are none\n' +
    'only the hosts that manage teams need the private key (TOLLGATE_TEAM_SIGNING_KEY_FILE); every service needs the public one',
  {},
  ({ teamKeys }) => {
    if (teamKeys.install === undefined) throw new RangeError('this command has no keys for team events');
    const { publicKeys, publicKeysFile } = teamKeys.install();
    const { kids } = createTeamVerifier(publicKeys);
    const where = publicKeysFile === undefined ? '' : ` (${publicKeysFile})`;
    const text = `Team events are checked with ${kids.join(', ')}${where}:\n\n${publicKeys.trim()}`;
    return Promise.resolve(done(text, { kids, publicKeys, publicKeysFile: publicKeysFile ?? null }));
  },
);

export const secretCommands = [
  command('secrets rewrap', 're-encrypt all data under the first of DATA_SECRETS', {}, async (tools) => {
    const { kid, rewrapped } = await rewrap(tools);
    const text = `Re-encrypted ${rewrapped} recurring tokens under ${kid}; all of them are under it now.`;
    return done(text, { kid, rewrapped });
  }),
  command(
    'secrets retire',
    're-encrypt, then retire a data secret; repeats of requests recorded under it are refused from then on',
    {
      name: argument('name', 'its name, the part before the colon', text),
      yes: flag('do it; otherwise only print what would be done'),
    },
    async (tools, { name: kid, yes }) => {
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
    },
  ),
];
