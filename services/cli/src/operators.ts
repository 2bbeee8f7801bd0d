/** `operator …`: sign-in links for the console and API, and people's tokens and sessions. */
import { issueLink, signInAddress } from '@tollgate/console/sign-in';
import { toPublicCredential } from '@tollgate/gateway-api/http';
import { StartupError, TollgateError, hourMs, omitUndefined } from '@tollgate/service-kit';
import { type CommandResult, done, printable } from '@tollgate/service-kit/command-line';
import {
  type Grant,
  type Operator,
  type OperatorRole,
  type RegisteredCredential,
  createCredentialRegister,
  createOperatorCredentials,
  formatGrants,
  grantsSchema,
  toGrant,
} from '@tollgate/teams';
import { type CommandTools, recordAction } from './tools.ts';

interface GrantOptions {
  role: OperatorRole;
  teams: string;
  environments: string;
}

interface LinkOptions extends GrantOptions {
  url: string | undefined;
}

interface TokenOptions extends GrantOptions {
  hours: number;
}

interface OfPerson {
  person: string | undefined;
}

const credentialsOf = ({ internalSecrets, clock, ids }: CommandTools) =>
  createOperatorCredentials(internalSecrets(), { clock, ids });

export async function printLink(tools: CommandTools, options: LinkOptions): Promise<CommandResult> {
  const gatewayUrl = options.url ?? tools.directory.readQuickstart()?.gatewayUrl;
  if (gatewayUrl === undefined)
    throw new StartupError('url_missing', 'The address of the gateway is unknown. Use --url.');
  const operator = operatorOf(tools, options);
  await recordAction(tools, 'operator link', { role: formatGrants(operator.grants) });
  const link = signInAddress(gatewayUrl, issueLink(credentialsOf(tools), operator));
  return done(link, { link });
}

export async function printToken(tools: CommandTools, options: TokenOptions): Promise<CommandResult> {
  const { hours } = options;
  const operator = operatorOf(tools, options);
  const credentials = credentialsOf(tools);
  const claims = credentials.newClaims(operator, 'api', hours * hourMs);
  const detail = { role: formatGrants(operator.grants), hours, credentialId: claims.id };
  await recordAction(tools, 'operator token', detail);
  if (!(await createCredentialRegister({ ...tools, credentials }).add(claims)))
    throw new TollgateError(
      'too_many_credentials',
      'The person has too many tokens and sessions. Revoke some of them first (operator list, operator revoke).',
    );
  const token = credentials.seal(claims);
  return done(token, { token, id: claims.id });
}

function operatorOf({ person: { name, source } }: CommandTools, options: GrantOptions): Operator {
  const grants = grantsSchema.safeParse([grantIn(options)]);
  if (!grants.success) throw wrong(`--teams ${grants.error.issues[0]?.message ?? ''}.`);
  return { person: name, source, grants: grants.data };
}

function grantIn({ role, teams, environments }: GrantOptions): Grant {
  try {
    return toGrant(role, teams, environments);
  } catch (error) {
    throw error instanceof RangeError ? wrong(error.message) : error;
  }
}

const wrong = (message: string) => new StartupError('invalid_arguments', message);

const registerOf = (tools: CommandTools) =>
  createCredentialRegister({ ...tools, credentials: credentialsOf(tools) });

export async function listCredentials(tools: CommandTools, { person }: OfPerson): Promise<CommandResult> {
  const all = await registerOf(tools).list();
  const found = all.filter((each) => person === undefined || each.person === person);
  const text = found.length === 0 ? 'No tokens or sessions.' : linesOf(found);
  return done(text, { credentials: found.map(toPublicCredential) });
}

export async function revokeCredentials(
  tools: CommandTools,
  { id, person }: OfPerson & { id: string | undefined },
): Promise<CommandResult> {
  const register = registerOf(tools);
  const owner = person ?? (await register.list()).find((each) => each.id === id)?.person;
  if (owner === undefined)
    throw new TollgateError(
      'credential_not_found',
      `No token or session has the id ${printable(id ?? '')}, or it has expired. Take the id from operator list.`,
    );
  await recordAction(tools, 'operator revoke', { person: owner, ...omitUndefined({ credentialId: id }) });
  const revoked = await register.revoke(owner, id);
  const links = id === undefined ? ' Sign-in links that were not used yet are revoked.' : '';
  const text =
    revoked.length === 0
      ? `${printable(owner)} has no tokens or sessions.${links}`
      : `Revoked:\n${linesOf(revoked)}`;
  return done(text, { revoked: revoked.map(toPublicCredential) });
}

const linesOf = (credentials: readonly RegisteredCredential[]): string =>
  credentials
    .map(toPublicCredential)
    .map(({ id, kind, person, issuedAt, expiresAt, address }) => {
      const from = address === undefined ? '' : `, from ${address}`;
      return `${id}  ${kind.padEnd(7)}  ${printable(person)}, issued ${issuedAt}, until ${expiresAt}${from}`;
    })
    .join('\n');
