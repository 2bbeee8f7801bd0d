import { type Scope, scopes } from '@tollgate/teams';
import { givenTeam, keyText } from '@tollgate/teams/testing';
import { expect, it } from 'vitest';
import { startApi } from '../testing/api.ts';
import { createOpenApiDocument, operations } from '@tollgate/gateway-api/http';

const toOpenApiPath = (url: string) => url.replaceAll(/:(\w+)/g, '{$1}');

it('documents every route of the server, and no other; the site describes itself', async () => {
  const { routes } = await startApi();
  const public_ = routes.filter(({ url }) => !url.startsWith('/docs'));
  const had = public_.map(({ method, url }) => `${String(method).toLowerCase()} ${toOpenApiPath(url)}`);
  const documented = operations.map(({ method, path }) => `${method} ${path}`);
  expect(had.sort()).toEqual(documented.sort());
});

/** A key for each scope, of teams that are called like them. */
const keyWith = (scope: Scope) => ({ team: scope, keyId: `k-${scope}`, scopes: [scope] });

it('requires the scopes and keys that the server requires', { timeout: 60_000 }, async () => {
  const { app } = await startApi(async (store) => {
    for (const scope of scopes) await givenTeam(store, keyWith(scope));
  });
  for (const [index, { id, method, path, scopes: documented }] of operations.entries()) {
    // Requests without a key are limited by address and second.
    const remoteAddress = `192.0.2.${index}`;
    const url = `${path.replaceAll(/\{\w+\}/g, 'none')}${id === 'retrieveBalance' ? '?currency=EUR' : ''}`;
    const ask = async (authorization?: string) => {
      const headers = authorization === undefined ? {} : { authorization };
      return (await app.inject({ method, url, headers, remoteAddress })).statusCode;
    };
    expect((await ask()) === 401, `${method} ${path} without a key`).toBe(documented !== undefined);
    if (documented === undefined) continue;
    const allowed: Scope[] = [];
    for (const scope of scopes)
      if ((await ask(`Bearer ${keyText(keyWith(scope))}`)) !== 403) allowed.push(scope);
    // The others are of people.
    const ofKeys = documented.filter((scope) => (scopes as readonly string[]).includes(scope));
    expect(allowed.sort(), `${method} ${path}`).toEqual(ofKeys.sort());
  }
});

it('serves the document without a key', async () => {
  const { app } = await startApi();
  const answer = await app.inject({ url: '/openapi.json' });
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  expect(answer.json()).toEqual(createOpenApiDocument());
});

it('serves the site under a policy that allows no other host', async () => {
  const { app } = await startApi();
  expect((await app.inject({ url: '/docs' })).headers).toMatchObject({ location: 'docs/' });
  const page = await app.inject({ url: '/docs/' });
  expect(page.headers['content-type']).toMatch(/^text\/html/);
  const policy = String(page.headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/https?:|\*|unsafe/);
  for (const [, file] of page.body.matchAll(/(?:src|href)="([^"#]+)"/g))
    expect((await app.inject({ url: new URL(file ?? '', 'http://x/docs/').pathname })).statusCode, file).toBe(
      200,
    );
});

it('serves no file outside of the site', async () => {
  const { app } = await startApi();
  for (const path of ['../package.json', '..%2fpackage.json', 'navigation.json', 'team', '__proto__', '%00'])
    expect((await app.inject({ url: `/docs/${path}` })).statusCode, path).toBe(404);
});

it('leaves every other answer without the policy of the page', async () => {
  const { app } = await startApi();
  expect((await app.inject({ url: '/healthz' })).headers).not.toHaveProperty('content-security-policy');
  expect((await app.inject({ url: '/api/v1/payments' })).headers).not.toHaveProperty(
    'content-security-policy',
  );
});
