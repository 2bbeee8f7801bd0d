/** A certified OpenID Connect provider (`oidc-provider`) where people sign in by typing their name. */
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemIds } from '@tollgate/service-kit';
import Provider from 'oidc-provider';

interface Client {
  id: string;
  secret: string;
  redirectUri: string;
}

export interface IdentityProvider {
  issuer: string;
  stop(): void;
}

/** @param groupsOf the groups of each person by name */
export async function startIdentityProvider(
  client: Client,
  groupsOf: Readonly<Record<string, readonly string[]>>,
): Promise<IdentityProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: client.id, client_secret: client.secret, redirect_uris: [client.redirectUri] }],
    cookies: { keys: [systemIds.hex(16)] },
    pkce: { required: () => true },
    ttl: { AccessToken: 60, Grant: 600, IdToken: 60, Interaction: 600, Session: 600 },
    claims: { openid: ['sub', 'groups'] },
    // The gateway only reads the identity token.
    conformIdTokenClaims: false,
    findAccount: (_context, accountId) => ({
      accountId,
      claims: () => ({ sub: accountId, groups: [...(groupsOf[accountId] ?? [])] }),
    }),
    features: { devInteractions: { enabled: true } },
  });
  const handle = provider.callback();
  server.on('request', (request, response) => void handle(request, response));
  return { issuer, stop: () => stop(server) };
}

function stop(server: Server): void {
  server.closeAllConnections();
  server.close();
}
