/** `webhook …`: the secrets of webhooks. */
import { webhookSecretsOf } from '@tollgate/service-kit';
import { done, optionOr } from '@tollgate/service-kit/command-line';
import { webhookSecretVersions } from '@tollgate/teams';
import * as read from './parameters.ts';
import { refused, teamsOf } from './teams.ts';
import { command, recordAction } from './tools.ts';

const ofWebhooks = { team: read.team, environment: read.environmentOf('of the payments and payouts') };

export const webhookCommands = [
  command(
    'webhook secret',
    'print the secret that a team verifies its webhooks with',
    ofWebhooks,
    /** Printing secrets is recorded: with a secret, anyone can forge webhooks for the team. */
    async (tools, about) => {
      const { team, environment } = about;
      const found = await teamsOf(tools).find(team);
      // No webhook would ever be signed with it.
      if (found === undefined) return refused(team, { code: 'team_not_found' });
      await recordAction(tools, 'webhook secret', about);
      const versions = webhookSecretVersions(found.webhookRotations, environment, tools.clock.now());
      const secrets = webhookSecretsOf(tools.webhookSecrets(), environment, team, versions).map((secret) =>
        secret.reveal(),
      );
      // Prints only the secret, so that it can be piped. Of several, use the first one from now on.
      return done(secrets.join('\n'), { ...about, secrets });
    },
  ),
  command(
    'webhook rotate',
    'give a team a new secret for its callback URLs; endpoints have secrets of their own\n' +
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
    async (tools, { overlap, team, environment }) => {
      const formerUntil = tools.clock.now() + overlap;
      const refusal = await teamsOf(tools).change(team, () => [
        { type: 'RotateWebhookSecret', environment, formerUntil },
      ]);
      if (refusal !== undefined) return refused(team, refusal);
      const until = new Date(formerUntil).toISOString();
      const former =
        overlap === 0
          ? 'Webhooks carry the signature of the new secret only, from now on.'
          : `Webhooks carry the signatures of both secrets until ${until}.`;
      const report = `Rotated. ${former}
The new one: webhook secret ${team} --environment ${environment}`;
      return done(report, { team, environment, formerUntil: until });
    },
  ),
];
