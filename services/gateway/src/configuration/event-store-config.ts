/** Configuration of EventStoreDB. */
import {
  type ConnectionString,
  type EventStoreDbConnection,
  parseConnectionString,
} from '@tollgate/event-store';
import {
  booleanSchema,
  isLoopbackAddress,
  omitUndefined,
  secretSchema,
  wrongVariable,
} from '@tollgate/service-kit';
import { z } from 'zod';
import { readNamed } from './tls.ts';

/** The environment variables of EventStoreDB. Without `EVENTSTORE_URL` the store is a file, and the others have no effect. */
export const eventStoreEnvironmentSchema = z.object({
  EVENTSTORE_URL: secretSchema.describe(
    'Connection string of EventStoreDB, with options such as `?tlsCaFile=…`. If unset, the event store is a local file.',
  ),
  EVENTSTORE_USERNAME: z.string().optional().describe('User name, unless the connection string has one.'),
  EVENTSTORE_PASSWORD: secretSchema.describe('Password of that user.'),
  EVENTSTORE_ALLOW_INSECURE: booleanSchema.describe('Allow `tls=false` for addresses other than loopback.'),
});

type Environment = z.infer<typeof eventStoreEnvironmentSchema>;

/** Undefined if the store is a file. @throws StartupError that names the variable that is wrong */
export function toEventStoreConfig(env: Environment): EventStoreDbConnection | undefined {
  const { EVENTSTORE_URL: url } = env;
  if (url === undefined) return undefined;
  const parsed = parseConnectionString(url.reveal(), 'EVENTSTORE_URL');
  const { discovers, hosts, connectionName } = parsed;
  const credentials = toCredentials(env, parsed);
  const tls = toTls(env, parsed);
  if (tls !== false && credentials === undefined)
    throw wrongVariable(
      'EVENTSTORE_USERNAME and EVENTSTORE_PASSWORD must be set, or be part of EVENTSTORE_URL',
    );
  return { discovers, hosts, tls, ...omitUndefined({ credentials, connectionName }) };
}

function toCredentials(
  { EVENTSTORE_USERNAME: username, EVENTSTORE_PASSWORD: password }: Environment,
  parsed: ConnectionString,
): EventStoreDbConnection['credentials'] {
  if ((username === undefined) !== (password === undefined))
    throw wrongVariable('EVENTSTORE_USERNAME and EVENTSTORE_PASSWORD must be set both or not at all');
  if (username !== undefined && password !== undefined) return { username, password };
  return parsed.credentials;
}

function toTls(
  { EVENTSTORE_ALLOW_INSECURE: allowed }: Environment,
  { tls, tlsCaFile, hosts, discovers }: ConnectionString,
): EventStoreDbConnection['tls'] {
  if (!tls) {
    // A node that reports the cluster's members may report any address.
    const staysHere = !discovers && hosts.every(({ address }) => isLoopbackAddress(address));
    if (allowed || staysHere) return false;
    throw wrongVariable(
      'EVENTSTORE_URL has tls=false, so nothing is encrypted and no password is sent. Remove it, or set EVENTSTORE_ALLOW_INSECURE=true',
    );
  }
  if (tlsCaFile === undefined) return {};
  return { ca: readNamed('EVENTSTORE_URL', tlsCaFile, 'config_invalid', 'a tlsCaFile') };
}
