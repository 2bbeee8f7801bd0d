/** `secrets rewrap`, `secrets retire`. */
import { requireDataSecrets, retireDataSecret, rewrapRecurringTokens } from '@tollgate/command-service';
import { createLocalKeyService, createVault } from '@tollgate/service-kit';
import type { Command } from 'commander';
import type { CommandResult, CommandTools, RunCommand } from './command.ts';

export function registerSecretsCommands(program: Command, run: RunCommand): void {
  const secrets = program.command('secrets').description('the data secrets (DATA_SECRETS)');
  secrets
    .command('rewrap')
    .description('re-encrypt under the first data secret what is under another one')
    .action(() => run(async (tools) => toResult(await rewrap(tools))));
  secrets
    .command('retire')
    .description(
      'rewrap, and need a data secret no longer; repeats of requests that were recorded under it are refused from then on',
    )
    .argument('<name>', 'its name, the part before the colon')
    .option('--yes', 'do it; otherwise only say what would be done')
    .action((kid: string, { yes = false }: { yes?: boolean }) => run((tools) => retire(tools, kid, yes)));
}

interface Rewrapped {
  kid: string;
  rewrapped: number;
}

async function rewrap(tools: CommandTools): Promise<Rewrapped> {
  const { store, clock, ids } = tools;
  const secrets = secretsOf(tools);
  await requireDataSecrets({ store, clock, ids }, secrets);
  const vault = createVault(createLocalKeyService(secrets, ids), ids);
  const [{ kid }] = secrets;
  return { kid, rewrapped: await rewrapRecurringTokens({ store, vault, clock, ids }, kid) };
}

const toResult = ({ kid, rewrapped }: Rewrapped): CommandResult => ({
  kind: 'done',
  text: `Re-encrypted ${rewrapped} recurring tokens under ${kid}; all of them are under it now.`,
  json: { kid, rewrapped },
});

async function retire(tools: CommandTools, kid: string, isMeant: boolean): Promise<CommandResult> {
  const [first, ...others] = secretsOf(tools);
  if (kid === first.kid)
    return { kind: 'refused', message: `${kid} is what new data are protected with: put another one first.` };
  if (!others.some((each) => each.kid === kid))
    return {
      kind: 'refused',
      message: `DATA_SECRETS holds no ${kid}, which is needed to read what is under it.`,
    };
  if (!isMeant) {
    const message = `Repeats of requests that were recorded under ${kid} would be refused as other requests. With --yes, it is retired.`;
    return { kind: 'refused', message };
  }
  const { rewrapped } = await rewrap(tools);
  await retireDataSecret(tools, kid);
  const text = `Retired ${kid}, after ${rewrapped} recurring tokens were re-encrypted: take it out of DATA_SECRETS everywhere.`;
  return { kind: 'done', text, json: { retired: kid, rewrapped } };
}

function secretsOf({ dataSecrets }: CommandTools) {
  if (dataSecrets === undefined) throw new RangeError('these tools have no data secrets');
  return dataSecrets();
}
