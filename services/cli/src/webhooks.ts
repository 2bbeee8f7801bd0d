/** `webhook …`: the secrets of webhooks. */
import { createEndpointBook } from '@tollgate/webhooks';
import { omitUndefined, webhookSecretsOf } from '@tollgate/service-kit';
import { type ValuesOf, done, option, optionOr } from '@tollgate/service-kit/command-line';
import { webhookSecretVersions } from '@tollgate/teams';
import * as read from './parameters.ts';
import { refused, teamsOf } from './teams.ts';
import { type CommandTools, command, recordAction } from './tools.ts';

const ofWebhooks = {
  team: read.team,
  environment: read.environmentOf('of the payments and payouts'),
  endpoint: option('origin', 'only of the endpoints at this origin', read.endpointOrigin),
};

export const webhookCommands = [
  command(
    'webhook secret',
    'print the secret that a team verifies its webhooks with',
    ofWebhooks,
    /** Printing secrets is recorded: with a secret, anyone can forge webhooks for the team. */
    async (tools, { team, environment, endpoint }) => {
      const found = await teamsOf(tools).find(team);
      // No webhook would ever be signed with it.
      if (found === undefined) return refused(team, { code: 'team_not_found' });
      const about = { team, environment, ...omitUndefined({ endpoint }) };
      await recordAction(tools, 'webhook secret', about);
      const scope = { environment, origin: endpoint };
      const versions = webhookSecretVersions(found.webhookRotations, scope, tools.clock.now());
      const secrets = webhookSecretsOf(tools.webhookSecrets(), environment, team, versions).map((secret) =>
        secret.reveal(),
      );
      // Prints only the secret, so that it can be piped. Of several, use the first one from now on.
      return done(secrets.join('\n'), { ...about, secrets });
    },
  ),
  command(
    'webhook rotate',
    'give a team a new secret, of all its endpoints or of one origin\n' +
      'for a while webhooks carry the signatures of both secrets, so that receivers can change over',
    {
      ...ofWebhooks,
      overlap: optionOr(
        'days',
        'time during which both sign; 0d if the old secret has leaked',
        read.days,
        '7d',
      ),
    },
    async (tools, { overlap, ...scope }) => {
      const { team, environment, endpoint } = scope;
      const formerUntil = tools.clock.now() + overlap;
      const terms = { environment, formerUntil, ...omitUndefined({ origin: endpoint }) };
      const refusal = await teamsOf(tools).change(team, () => [{ type: 'RotateWebhookSecret', ...terms }]);
      if (refusal !== undefined) return refused(team, refusal);
      const until = new Date(formerUntil).toISOString();
      const of = endpoint === undefined ? '' : ` --endpoint ${endpoint}`;
      const former =
        overlap === 0
          ? 'Webhooks carry the signature of the new secret only, from now on.'
          : `Webhooks carry the signatures of both secrets until ${until}.`;
      const report = `Rotated. ${former}${await unusedOrigin(tools, scope)}
The new one: webhook secret ${team} --environment ${environment}${of}`;
      return done(report, { team, environment, ...omitUndefined({ endpoint }), formerUntil: until });
    },
  ),
];

/** Callback URLs of single payments are signed by origin, so an origin without an endpoint may be intended. */
async function unusedOrigin(
  tools: CommandTools,
  { team, environment, endpoint }: ValuesOf<typeof ofWebhooks>,
): Promise<string> {
  if (endpoint === undefined) return '';
  const endpoints = await createEndpointBook(tools).list({ environment, team });
  return endpoints.some(({ url }) => new URL(url).origin === endpoint)
    ? ''
    : ` No endpoint of ${team} is at ${endpoint}: only callback URLs of payments there are affected.`;
}
