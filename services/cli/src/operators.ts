/** `operator …`: sign-in links for the console, and tokens for the API. */
import { issueLink, signInAddress } from '@tollgate/console/sign-in';
import { StartupError, TollgateError, hourMs } from '@tollgate/service-kit';
import { type ValuesOf, done, option, optionOr, wholeNumber } from '@tollgate/service-kit/command-line';
import {
  type Grant,
  type Operator,
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
      if (!(await createCredentialRegister({ ...tools, credentials }).add(claims)))
        throw new TollgateError(
          'too_many_credentials',
          'The person has too many tokens and sessions. Revoke some of them first: Tokens and sessions in the console, or POST /api/v1/admin/me/revoke.',
        );
      const token = credentials.seal(claims);
      return done(token, { token, id: claims.id });
    },
  ),
];

const credentialsOf = ({ internalSecrets, clock, ids }: CommandTools) =>
  createOperatorCredentials(internalSecrets(), { clock, ids });

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
