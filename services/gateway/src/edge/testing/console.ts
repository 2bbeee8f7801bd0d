/** The console over the API without a browser: people sign in, read pages and send forms. */
import type { EventStore } from '@tollgate/event-store';
import { type OperatorRole, everywhere } from '@tollgate/teams';
import { givenTeam } from '@tollgate/teams/testing';
import { eventually } from '@tollgate/testing';
import type { LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import { type TestedApiOptions, startApi } from './api.ts';

/** Hostile user input. */
export const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>'`;

export const cookieOf = ({ headers }: LightMyRequestResponse): string =>
  String(headers['set-cookie']).split(';')[0] ?? '';

export const startWithShop = (seed: (store: EventStore) => Promise<unknown>, options?: TestedApiOptions) =>
  startConsole(async (store) => {
    await givenTeam(store, { team: 'shop', keyId: 'k1' });
    await seed(store);
  }, options);

/** @param seed content of the store before the services start */
export async function startConsole(
  seed: (store: EventStore) => Promise<void>,
  options: TestedApiOptions = {},
) {
  const api = await startApi(seed, { ...options, hasConsole: true });
  const { app, credentials } = api;
  const linkFor = (role: OperatorRole, person = 'ada') =>
    credentials.issue({ person, source: 'command-line', grants: everywhere(role) }, 'sign-in', 60_000);
  const post = (url: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    app.inject({
      method: 'POST',
      url,
      payload: new URLSearchParams(form).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  async function signIn(role: OperatorRole = 'operator', person = 'ada') {
    const answer = await post('/console/sign-in', { link: linkFor(role, person) });
    const cookie = cookieOf(answer);
    const get = (url: string) => app.inject({ url, headers: { cookie } });
    /** The body of a page, once it contains the text. */
    const read = (url: string, text: string) =>
      eventually(async () => {
        const { body } = await get(url);
        expect(body).toContain(text);
        return body;
      });
    const { body } = await get('/console');
    const csrf = /name="csrf" value="([^"]+)"/.exec(body)?.[1] ?? '';
    const send = (url: string, form: object) => post(url, { csrf, ...form }, { cookie });
    /** The page that a form leads to. */
    const sendAndRead = async (url: string, form: object) =>
      (await get(String((await send(url, form)).headers['location']))).body;
    return { cookie, csrf, get, read, send, sendAndRead };
  }
  return { ...api, post, linkFor, signIn };
}
