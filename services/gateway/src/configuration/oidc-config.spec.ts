import { readConfig } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { gatewayConfigSchema } from './config.ts';

const whole = {
  OIDC_ISSUER: 'https://id.example/realms/staff',
  OIDC_CLIENT_ID: 'tollgate',
  OIDC_CLIENT_SECRET: 'hush',
  CONSOLE_PUBLIC_URL: 'https://pay.example',
  OIDC_GRANTS: 'admin=root; admin=tollgate-admins',
};
const read = (env: Record<string, string>) => readConfig(gatewayConfigSchema, env).identityProvider;

describe("the identity provider's address", () => {
  it('is nowhere else unless an issuer is named', () => {
    expect(read({ OIDC_GRANTS: 'admin=root' })).toBeUndefined();
  });

  it('is read with the groups of each role', () => {
    expect(read(whole)).toMatchObject({
      issuer: 'https://id.example/realms/staff',
      publicUrl: 'https://pay.example',
      scopes: 'openid',
      personClaim: 'sub',
      groupsClaim: 'groups',
      grantsOf: [
        { group: 'root', grant: { role: 'admin', teams: '*', environments: '*' } },
        { group: 'tollgate-admins', grant: { role: 'admin', teams: '*', environments: '*' } },
      ],
    });
    expect(read({ ...whole, OIDC_ISSUER: 'http://127.0.0.1:8080' })).toBeDefined();
  });

  it('is read with roles in some teams or environments, with any group names', () => {
    const text =
      'lead:shop=shop-leads; support:shop,games:sandbox = CN=Games,OU=Staff ;viewer:*:sandbox=a@b.example';
    expect(read({ ...whole, OIDC_GRANTS: text })?.grantsOf).toEqual([
      { group: 'shop-leads', grant: { role: 'lead', teams: ['shop'], environments: '*' } },
      {
        group: 'CN=Games,OU=Staff',
        grant: { role: 'support', teams: ['shop', 'games'], environments: ['sandbox'] },
      },
      { group: 'a@b.example', grant: { role: 'viewer', teams: '*', environments: ['sandbox'] } },
    ]);
  });

  it.each([
    [{ OIDC_GRANTS: 'lead:shop' }, '"lead:shop" must be role:teams:environments=group'],
    [{ OIDC_GRANTS: 'lead:shop=' }, '"lead:shop=" must be role:teams:environments=group'],
    [{ OIDC_GRANTS: 'boss:shop=x' }, 'The role must be one of viewer'],
    [{ OIDC_GRANTS: 'lead:Shop=x' }, 'Teams must be * or names of teams'],
    [{ OIDC_GRANTS: 'lead:shop:test=x' }, 'Environments must be * or of sandbox, production'],
    [{ OIDC_ISSUER: 'http://id.example' }, 'OIDC_ISSUER must be an https URL'],
    [{ OIDC_ISSUER: 'https://ada:x@id.example' }, 'OIDC_ISSUER must be an https URL'],
    [
      { CONSOLE_PUBLIC_URL: 'https://pay.example/x' },
      'CONSOLE_PUBLIC_URL must be an https URL without a path',
    ],
    [{ CONSOLE_PUBLIC_URL: '' }, 'CONSOLE_PUBLIC_URL'],
    [{ OIDC_CLIENT_SECRET: undefined }, 'OIDC_ISSUER requires'],
    [{ OIDC_GRANTS: ' ; ' }, 'No group has a role'],
    [{ OIDC_SCOPES: 'email' }, 'OIDC_SCOPES must be a list with openid'],
    [{ OIDC_PERSON_CLAIM: 'a b' }, 'OIDC_PERSON_CLAIM must be the name of a claim'],
  ])('is refused by name if it is %j', (change, message) => {
    const { OIDC_CLIENT_SECRET: secret, ...rest } = { ...whole, ...change };
    const env = { ...rest, ...(secret === undefined ? {} : { OIDC_CLIENT_SECRET: secret }) };
    expect(() => read(env)).toThrow(message);
  });
});
