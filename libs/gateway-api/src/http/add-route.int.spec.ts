import { silentLog } from '@tollgate/service-kit';
import { type Authentication, type Grant, parseGrant } from '@tollgate/teams';
import fastify from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { addRoute } from './add-route.ts';
import type { Access } from './authenticate.ts';
import { routes } from './routes.ts';

const directory = (grants: Grant[]): Access => ({
  authenticate: (): Authentication => ({
    kind: 'caller',
    caller: {
      team: '',
      keyId: 'person:ada',
      environment: 'sandbox',
      scopes: new Set(['self'] as const),
      allowedOrigins: { callback: [], redirect: [] },
      wallet: { kind: 'own' },
      operator: { person: 'ada', source: 'oidc', grants },
    },
  }),
  catchUp: async () => {},
  noteRefusal: () => {},
});

it.each([
  [false, 500],
  [true, 200],
])('a handler that uses the reach of its caller (%s) answers %i', async (isTaking, status) => {
  const app = fastify();
  onTestFinished(() => app.close());
  const kit = { directory: directory([parseGrant('viewer')]), log: silentLog };
  addRoute(app, kit, routes.listTeamNames, async (call) => {
    const teams = ['shop', 'games'].filter((team) => !isTaking || call.reach.includesTeam(team));
    return call.reply.send({ success: true, teams, withoutKey: [] });
  });
  const answer = await app.inject(routes.listTeamNames.url);
  expect(answer.statusCode).toBe(status);
  expect(answer.body.includes('games')).toBe(isTaking);
});

// A body whose environment is an object ended in a 500, and a text of any length was repeated in the message.
it.each([[{ toString: 1 }], [['sandbox']], ['x'.repeat(1_000)]])(
  'a named team with the environment %j is not within reach of a grant for one environment',
  async (environment) => {
    const app = fastify();
    onTestFinished(() => app.close());
    const kit = { directory: directory([parseGrant('lead:shop:sandbox')]), log: silentLog };
    addRoute(app, kit, routes.issueKey, async ({ reply }) => reply.send({ success: true }));
    const payload = { team: 'shop', environment };
    const answer = await app.inject({ method: 'POST', url: routes.issueKey.url, payload });
    expect(answer.statusCode).toBe(403);
    expect(answer.body.length).toBeLessThan(500);
  },
);
