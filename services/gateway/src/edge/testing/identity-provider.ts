/** An identity provider (OpenID Connect) for specs, with configurable people and faults. */
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { systemClock, systemIds } from '@tollgate/service-kit';
import { onTestFinished } from 'vitest';

export interface IdentityProviderUnderTest {
  issuer: string;
  /** Additional or replaced claims of the next identity token. */
  claims: Record<string, unknown>;
  /** True: tokens are signed by an unknown key. */
  isForging: boolean;
  /** How often a code was exchanged. */
  exchanges: number;
  /** A person signs in there, and is redirected with this query. */
  answer(address: string): string;
}

interface Asked {
  nonce: string;
  challenge: string;
  clientId: string;
}

const newKeys = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const own = newKeys();
const foreign = newKeys();
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export async function startIdentityProvider(): Promise<IdentityProviderUnderTest> {
  const codes = new Map<string, Asked>();
  const provider: IdentityProviderUnderTest = {
    issuer: '',
    claims: { sub: 'ada', groups: ['tollgate-admins'] },
    isForging: false,
    exchanges: 0,
    answer(address) {
      const asked = new URL(address).searchParams;
      const code = systemIds.hex(16);
      codes.set(code, {
        nonce: asked.get('nonce') ?? '',
        challenge: asked.get('code_challenge') ?? '',
        clientId: asked.get('client_id') ?? '',
      });
      return new URLSearchParams({ code, state: asked.get('state') ?? '', iss: provider.issuer }).toString();
    },
  };

  function idToken({ nonce, clientId }: Asked): string {
    const now = Math.floor(systemClock.now() / 1_000);
    const claims = {
      iss: provider.issuer,
      aud: clientId,
      iat: now,
      exp: now + 60,
      nonce,
      ...provider.claims,
    };
    const signed = `${encoded({ alg: 'RS256', kid: 'k1' })}.${encoded(claims)}`;
    const { privateKey } = provider.isForging ? foreign : own;
    return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url')}`;
  }

  function exchange(body: string): [status: number, answer: object] {
    provider.exchanges += 1;
    const form = new URLSearchParams(body);
    const asked = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (asked?.challenge !== challenge || form.get('client_secret') !== 'hush')
      return [400, { error: 'invalid_grant' }];
    return [200, { access_token: 'a', token_type: 'Bearer', expires_in: 60, id_token: idToken(asked) }];
  }

  const server = createServer((request, response) => {
    const send = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.url === '/token') return void text(request).then((body) => send(...exchange(body)));
    const jwk = { ...own.publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256', use: 'sig' };
    if (request.url === '/jwks') return send(200, { keys: [jwk] });
    return send(200, {
      issuer: provider.issuer,
      authorization_endpoint: `${provider.issuer}/authorize`,
      token_endpoint: `${provider.issuer}/token`,
      jwks_uri: `${provider.issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      token_endpoint_auth_methods_supported: ['client_secret_post'],
      authorization_response_iss_parameter_supported: true,
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  provider.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return provider;
}
