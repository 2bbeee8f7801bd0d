/** `operator …`: sign-in links for the console and API, and people's tokens and sessions. */
import { issueLink, signInAddress } from '@tollgate/console/sign-in';
import { toPublicCredential } from '@tollgate/gateway-api/http';
import { StartupError, TollgateError, hourMs, omitUndefined } from '@tollgate/service-kit';
import {
  type ValuesOf,
  done,
  option,
  optionOr,
  optionalArgument,
  printable,
  text,
  wholeNumber,
} from '@tollgate/service-kit/command-line';
import {
  type Grant,
  type Operator,
  type RegisteredCredential,
  createCredentialRegister,
  createOperatorCredentials,
  formatGrants,
  grantsSchema,
  toGrant,
} from '@tollgate/teams';
import * as read from './parameters.ts';
import { type CommandTools, command, recordAction } from './tools.ts';

export const operatorCommands = [
  command(
    'operator link',
    'print a link that signs the person (--as) in to the console, once, within 15 minutes',
    {
      ...read.grants,
      url: option('url', 'address of the gateway; default: that in quickstart.json', read.gatewayOrigin),
    },
    async (tools, { url, ...granted }) => {
      const gatewayUrl = url ?? tools.directory.readQuickstart()?.gatewayUrl;
      if (gatewayUrl === undefined)
        throw new StartupError('url_missing', 'The address of the gateway is unknown. Use --url.');
      const operator = operatorOf(tools, granted);
      await recordAction(tools, 'operator link', { role: formatGrants(operator.grants) });
      const link = signInAddress(gatewayUrl, issueLink(credentialsOf(tools), operator));
      return done(link, { link });
    },
  ),
  command(
    'operator token',
    'print a credential with which the person (--as) calls the API instead of a key',
    { ...read.grants, hours: optionOr('hours', 'until it expires', wholeNumber(1, 24 * 31), '8') },
    async (tools, { hours, ...granted }) => {
      const operator = operatorOf(tools, granted);
      const credentials = credentialsOf(tools);
      const claims = credentials.newClaims(operator, 'api', hours * hourMs);
      const detail = { role: formatGrants(operator.grants), hours, credentialId: claims.id };
      await recordAction(tools, 'operator token', detail);
      if (!(await registerOf(tools).add(claims)))
        throw new TollgateError(
          'too_many_credentials',
          'The person has too many tokens and sessions. Revoke some of them first (operator list, operator revoke).',
        );
      const token = credentials.seal(claims);
      return done(token, { token, id: claims.id });
    },
  ),
  command(
    'operator list',
    'list the tokens and sessions of people; their secrets are never shown',
    { person: option('name', 'only those of this person', text) },
    async (tools, { person }) => {
      const all = await registerOf(tools).list();
      const found = all.filter((each) => person === undefined || each.person === person);
      const lines = found.length === 0 ? 'No tokens or sessions.' : linesOf(found);
      return done(lines, { credentials: found.map(toPublicCredential) });
    },
  ),
  command(
    'operator revoke',
    'revoke a token or session, or everything of a person; takes effect within a second',
    {
      id: optionalArgument('id', 'its id, from the list', text),
      person: option('name', 'everything of this person, including unused sign-in links', text),
    },
    async (tools, { id, person }) => {
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
      const none = `${printable(owner)} has no tokens or sessions.${links}`;
      const report = revoked.length === 0 ? none : `Revoked:\n${linesOf(revoked)}`;
      return done(report, { revoked: revoked.map(toPublicCredential) });
    },
    ({ id, person }) =>
      (id === undefined) === (person === undefined) ? 'Give exactly one of <id> and --person' : undefined,
  ),
];

const credentialsOf = ({ internalSecrets, clock, ids }: CommandTools) =>
  createOperatorCredentials(internalSecrets(), { clock, ids });

const registerOf = (tools: CommandTools) =>
  createCredentialRegister({ ...tools, credentials: credentialsOf(tools) });

type Granted = ValuesOf<typeof read.grants>;

function operatorOf({ person: { name, source } }: CommandTools, granted: Granted): Operator {
  const grants = grantsSchema.safeParse([grantIn(granted)]);
  if (!grants.success) throw wrong(`--teams ${grants.error.issues[0]?.message ?? ''}.`);
  return { person: name, source, grants: grants.data };
}

function grantIn({ role, teams, environments }: Granted): Grant {
  try {
    return toGrant(role, teams, environments);
  } catch (error) {
    throw error instanceof RangeError ? wrong(error.message) : error;
  }
}

const wrong = (message: string) => new StartupError('invalid_arguments', message);

const linesOf = (credentials: readonly RegisteredCredential[]): string =>
  credentials
    .map(toPublicCredential)
    .map(({ id, kind, person, issuedAt, expiresAt, address }) => {
      const from = address === undefined ? '' : `, from ${address}`;
      return `${id}  ${kind.padEnd(7)}  ${printable(person)}, issued ${issuedAt}, until ${expiresAt}${from}`;
    })
    .join('\n');
