/** `webhook …`: the secrets of webhooks. */
import { createEndpointBook } from '@tollgate/webhooks';
import type { Environment } from '@tollgate/core';
import { omitUndefined, webhookSecretsOf } from '@tollgate/service-kit';
import { type CommandResult, done } from '@tollgate/service-kit/command-line';
import { webhookSecretVersions } from '@tollgate/teams';
import { refused, teamsOf } from './teams.ts';
import { type CommandTools, recordAction } from './tools.ts';

interface SecretOptions {
  team: string;
  environment: Environment;
  endpoint: string | undefined;
}

/** Printing secrets is recorded: with a secret, anyone can forge webhooks for the team. */
export async function showSecrets(
  tools: CommandTools,
  { team, environment, endpoint }: SecretOptions,
): Promise<CommandResult> {
  // No webhook would ever be signed with it.
  if ((await teamsOf(tools).find(team)) === undefined) return refused(team, { code: 'team_not_found' });
  await recordAction(tools, 'webhook secret', { team, environment, ...omitUndefined({ endpoint }) });
  // Prints only the secret, so that it can be piped. Of several, use the first one from now on.
  const secrets = await secretsOf(tools, team, { environment, endpoint });
  return done(secrets.join('\n'), { team, environment, ...omitUndefined({ endpoint }), secrets });
}

async function secretsOf(
  tools: CommandTools,
  team: string,
  { environment, endpoint }: { environment: Environment; endpoint: string | undefined },
): Promise<string[]> {
  const rotations = (await teamsOf(tools).find(team))?.webhookRotations ?? [];
  const versions = webhookSecretVersions(rotations, { environment, origin: endpoint }, tools.clock.now());
  const secrets = webhookSecretsOf(tools.webhookSecrets(), environment, team, versions);
  return secrets.map((secret) => secret.reveal());
}

export async function rotateSecret(
  tools: CommandTools,
  { team, environment, endpoint, overlap }: SecretOptions & { overlap: number },
): Promise<CommandResult> {
  const formerUntil = tools.clock.now() + overlap;
  const terms = { environment, formerUntil, ...omitUndefined({ origin: endpoint }) };
  const refusal = await teamsOf(tools).change(team, () => [{ type: 'RotateWebhookSecret', ...terms }]);
  if (refusal !== undefined) return refused(team, refusal);
  const until = new Date(formerUntil).toISOString();
  const option = endpoint === undefined ? '' : ` --endpoint ${endpoint}`;
  const former =
    overlap === 0
      ? 'Webhooks carry the signature of the new secret only, from now on.'
      : `Webhooks carry the signatures of both secrets until ${until}.`;
  const text = `Rotated. ${former}${await unusedOrigin(tools, { team, environment, endpoint })}
The new one: webhook secret ${team} --environment ${environment}${option}`;
  return done(text, { team, environment, ...omitUndefined({ endpoint }), formerUntil: until });
}

/** Callback URLs of single payments are signed by origin, so an origin without an endpoint may be intended. */
async function unusedOrigin(
  tools: CommandTools,
  { team, environment, endpoint }: SecretOptions,
): Promise<string> {
  if (endpoint === undefined) return '';
  const endpoints = await createEndpointBook(tools).list({ environment, team });
  return endpoints.some(({ url }) => new URL(url).origin === endpoint)
    ? ''
    : ` No endpoint of ${team} is at ${endpoint}: only callback URLs of payments there are affected.`;
}
