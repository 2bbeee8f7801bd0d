/** `operator list|revoke`: the tokens and sessions of people. */
import { toPublicCredential } from '@tollgate/gateway-api/http';
import { TollgateError } from '@tollgate/service-kit';
import { printable } from '@tollgate/service-kit/command-line';
import { type RegisteredCredential, createCredentialRegister } from '@tollgate/teams';
import type { Command } from 'commander';
import type { CommandResult, CommandTools, RunCommand } from './command.ts';
import { credentialsOf, record } from './operator-tools.ts';

interface OfPerson {
  person?: string;
}

export function registerCredentialCommands(operator: Command, run: RunCommand): void {
  operator
    .command('list')
    .description('list the tokens and sessions of people; their secrets are never shown')
    .option('--person <name>', 'only those of this person')
    .action((options: OfPerson) => run((tools) => listCredentials(tools, options)));
  operator
    .command('revoke')
    .description('revoke a token or session, or everything of a person; it takes effect within a second')
    .argument('[id]', 'its id, from the list')
    .option('--person <name>', 'everything of this person, and links to sign in that were not used yet')
    .action((id: string | undefined, options: OfPerson) =>
      run((tools) => revokeCredentials(tools, id, options)),
    );
}

const registerOf = (tools: CommandTools) =>
  createCredentialRegister({ ...tools, credentials: credentialsOf(tools) });

async function listCredentials(tools: CommandTools, { person }: OfPerson): Promise<CommandResult> {
  const all = await registerOf(tools).list();
  const found = all.filter((each) => person === undefined || each.person === person);
  return {
    kind: 'done',
    text: found.length === 0 ? 'No tokens or sessions.' : linesOf(found),
    json: { credentials: found.map(toPublicCredential) },
  };
}

async function revokeCredentials(
  tools: CommandTools,
  id: string | undefined,
  { person }: OfPerson,
): Promise<CommandResult> {
  if ((id === undefined) === (person === undefined))
    throw new TollgateError('credential_missing', 'Name what to revoke: an id, or --person, not both.');
  const register = registerOf(tools);
  const owner = person ?? (await register.list()).find((each) => each.id === id)?.person;
  if (owner === undefined)
    throw new TollgateError(
      'credential_not_found',
      `No token or session has the id ${printable(id ?? '')}, or it has expired. Take the id from operator list.`,
    );
  await record(tools, 'operator revoke', {
    person: owner,
    ...(id === undefined ? {} : { credentialId: id }),
  });
  const revoked = await register.revoke(owner, id);
  return {
    kind: 'done',
    text:
      revoked.length === 0
        ? `${printable(owner)} has no tokens or sessions.`
        : `Revoked:\n${linesOf(revoked)}`,
    json: { revoked: revoked.map(toPublicCredential) },
  };
}

const linesOf = (credentials: readonly RegisteredCredential[]): string =>
  credentials
    .map(toPublicCredential)
    .map(({ id, kind, person, issuedAt, expiresAt, address }) => {
      const from = address === undefined ? '' : `, from ${address}`;
      return `${id}  ${kind.padEnd(7)}  ${printable(person)}, issued ${issuedAt}, until ${expiresAt}${from}`;
    })
    .join('\n');
