import { describe, expect, it } from 'vitest';
import { startEndpointApi } from '../testing/endpoint-api.ts';
import { endpointsMax } from './endpoint.ts';

const path = 'webhook-endpoints';
const codeOf = ({ status, body }: { status: number; body: { errors?: { code: string }[] } }) =>
  `${status} ${body.errors?.[0]?.code ?? ''}`;

describe('an endpoint of a team', () => {
  it('is added with a secret that is shown once, listed, changed and removed', async () => {
    const { call, receiver, add } = await startEndpointApi();
    const { endpoint, secret } = await add({ events: ['payment.approved'], description: 'Books' });
    expect(secret).toMatch(/^whsec_/);
    const shown = {
      id: endpoint.id,
      environment: 'sandbox',
      url: receiver.url,
      events: ['payment.approved'],
      description: 'Books',
      status: 'enabled',
      createdAt: '2030-01-01T00:00:00.000Z',
    };
    expect(endpoint).toEqual(shown);
    expect((await call('GET', path)).body).toEqual({ success: true, endpoints: [shown] });
    const change = { url: 'https://shop.example/b', events: ['*'], description: '', status: 'disabled' };
    const { description: _, ...rest } = shown;
    const changed = await call('PATCH', `${path}/${endpoint.id}`, change);
    expect(changed.body.endpoint).toEqual({
      ...rest,
      url: change.url,
      events: ['*'],
      status: 'disabled',
      disabledReason: 'by_team',
      disabledAt: '2030-01-01T00:00:00.000Z',
    });
    const enabled = await call('PATCH', `${path}/${endpoint.id}`, { status: 'enabled' });
    expect(enabled.body.endpoint).toEqual({ ...rest, url: change.url, events: ['*'] });
    expect((await call('GET', `${path}/${endpoint.id}`)).body.endpoint).toEqual(enabled.body.endpoint);
    expect((await call('DELETE', `${path}/${endpoint.id}`)).status).toBe(200);
    expect(codeOf(await call('DELETE', `${path}/${endpoint.id}`))).toBe('404 webhook_endpoint_not_found');
    expect((await call('GET', path)).body.endpoints).toEqual([]);
  });

  // Five spellings of one URL became five endpoints, and each event was sent five times.
  it('stores its URL in canonical form', async () => {
    const { call } = await startEndpointApi();
    const others = [
      'https://shop.example/wh-%C3%BC',
      'HTTPS://shop.example/wh-ü',
      'https://shop.example/./wh-ü#a',
    ];
    const first = await call('POST', path, { url: 'https://shop.example/wh-ü#top' });
    expect([first.status, first.body.endpoint.url]).toEqual([201, 'https://shop.example/wh-%C3%BC']);
    for (const url of others)
      expect(codeOf(await call('POST', path, { url }))).toBe('409 webhook_endpoint_exists');
    const other = await call('POST', path, { url: 'https://shop.example/other' });
    const moved = await call('PATCH', `${path}/${other.body.endpoint.id}`, { url: others[1] });
    expect(codeOf(moved)).toBe('409 webhook_endpoint_exists');
  });

  it('belongs to its team alone', async () => {
    const { call, add } = await startEndpointApi();
    const { endpoint } = await add();
    const one = `${path}/${endpoint.id}`;
    const calls = [
      ...[call('GET', one, undefined, 'games'), call('PATCH', one, { status: 'disabled' }, 'games')],
      ...[call('DELETE', one, undefined, 'games'), call('POST', `${one}/rotate-secret`, {}, 'games')],
      ...[call('POST', `${one}/test`, undefined, 'games')],
    ];
    for (const answer of await Promise.all(calls))
      expect(codeOf(answer)).toBe('404 webhook_endpoint_not_found');
    expect((await call('GET', path, undefined, 'games')).body.endpoints).toEqual([]);
  });

  it.each([
    ['url', {}],
    ['url', { url: 'shop.example' }],
    // The URL of an endpoint was the one text of a team that could contain a card number.
    ['url', { url: 'https://shop.example/4392963203551251' }],
    ['url', { url: 'https://shop.example/?card=4392%209632%200355%201251' }],
    ['events', { url: 'https://shop.example/a', events: [] }],
    ['events.0', { url: 'https://shop.example/a', events: ['payment.tea'] }],
    ['events', { url: 'https://shop.example/a', events: ['payment.approved', 'payment.approved'] }],
    ['description', { url: 'https://shop.example/a', description: '4392963203551251' }],
    ['secret', { url: 'https://shop.example/a', secret: 'mine' }],
  ])('is refused if its %s is invalid', async (parameter, payload) => {
    const { call } = await startEndpointApi();
    const answer = await call('POST', path, payload);
    expect([answer.status, answer.body.errors[0]?.parameter]).toEqual([400, parameter]);
  });

  it('uses an allowed origin only, even when changed', async () => {
    const { call, add } = await startEndpointApi();
    const elsewhere = { url: 'https://elsewhere.example/a' };
    const { endpoint } = await add();
    for (const answer of [
      await call('POST', path, elsewhere),
      await call('PATCH', `${path}/${endpoint.id}`, elsewhere),
    ]) {
      expect(codeOf(answer)).toBe('400 origin_not_allowed');
      expect(answer.body.errors[0]?.parameter).toBe('url');
    }
  });

  it('exists once per URL under concurrent requests, and at most twenty times per team', async () => {
    const { call, receiver } = await startEndpointApi();
    const urlOf = (count: number) => ({ url: `${receiver.url}/${count}` });
    const same = await Promise.all([1, 1, 1, 1].map((count) => call('POST', path, urlOf(count))));
    expect(same.map(codeOf).toSorted()).toEqual(['201 ', ...Array(3).fill('409 webhook_endpoint_exists')]);
    const counts = Array.from({ length: endpointsMax }, (_, index) => index + 2);
    const more = await Promise.all(counts.map((count) => call('POST', path, urlOf(count))));
    expect(more.map(codeOf).filter((code) => code === '409 too_many_webhook_endpoints')).toHaveLength(1);
    expect((await call('GET', path)).body.endpoints).toHaveLength(endpointsMax);
    const [first, second] = (await call('GET', path)).body.endpoints;
    const taken = await call('PATCH', `${path}/${second!.id}`, { url: first!.url });
    expect(codeOf(taken)).toBe('409 webhook_endpoint_exists');
  });
});
