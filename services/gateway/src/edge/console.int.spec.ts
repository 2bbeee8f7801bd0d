/** The console over the API, without a browser: access, forms, and hostile texts. */
import { paymentKind } from '@tollgate/views';
import { projectEvents, happening, requested } from '@tollgate/views/testing';
import { eventually } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import type { TestedApiOptions } from './testing/api.ts';
import { cookieOf, hostile, startWithShop } from './testing/console.ts';
import { everywhere } from '@tollgate/teams';

const { accepted, approved, reviews } = happening;
const terms = { kind: 'hosted', product: hostile, amount: 1_500, currency: 'EUR', orderNumber: hostile };

const start = (options: TestedApiOptions = {}) =>
  startWithShop(async (store) => {
    const paid = [requested(terms), accepted, approved, reviews];
    await projectEvents(store, paymentKind, 'pay_1', paid);
  }, options);

describe('access', () => {
  it('a link signs in once, with its own session that no script reads', async () => {
    const { app, post, linkFor, recorded } = await start();
    const link = linkFor('viewer');
    const page = await app.inject({ url: `/console/sign-in?link=${link}` });
    expect(page.body).toContain('Sign in as ada');
    // An attacker who planted a cookie before does not share the session.
    const answer = await post('/console/sign-in', { link }, { cookie: 'tollgate-console=planted' });
    expect(answer).toMatchObject({ statusCode: 303, headers: { location: '/console' } });
    expect(answer.headers['set-cookie']).toMatch(/; Path=\/console; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
    expect(cookieOf(answer)).not.toContain('planted');
    expect(recorded).toMatchObject([{ person: { name: 'ada' }, command: 'POST /api/v1/admin/sign-ins' }]);
    expect((await post('/console/sign-in', { link })).statusCode).toBe(401);
  });

  it('no page is shown without a session, with a link, a key’s bearer or two cookies', async () => {
    const { app, linkFor, signIn, credentials } = await start();
    const { cookie } = await signIn();
    const bearer = credentials.issue(
      { person: 'ada', source: 'command-line', grants: everywhere('admin') },
      'api',
      60_000,
    );
    for (const each of [
      '',
      `tollgate-console=${linkFor('admin')}`,
      `tollgate-console=${bearer}`,
      `${cookie}; ${cookie}`,
    ])
      for (const url of [
        '/console',
        '/console/payments/pay_1',
        '/console/payments.csv',
        '/console/search/suggestions?q=pay_1',
      ])
        expect((await app.inject({ url, headers: { cookie: each } })).statusCode, url).toBe(401);
  });

  it('a session is no key of the API, and ends when its person signs out', async () => {
    const { app, signIn } = await start();
    const { cookie, get, send } = await signIn();
    const authorization = `Bearer ${cookie.split('=')[1] ?? ''}`;
    expect((await app.inject({ url: '/api/v1/admin/teams', headers: { authorization } })).statusCode).toBe(
      401,
    );
    expect((await get('/console')).statusCode).toBe(200);
    await send('/console/sign-out', {});
    expect((await get('/console')).statusCode).toBe(401);
  });

  // Requests without a key locked out the people at the console behind the same shared address.
  it('requests without a key from the same address do not limit people who are signed in', async () => {
    const { app, signIn } = await start();
    const { get } = await signIn();
    const strangers = Array.from({ length: 150 }, () => app.inject({ url: '/console' }));
    const codes = (await Promise.all(strangers)).map(({ statusCode }) => statusCode);
    expect(codes).toContain(429);
    expect((await get('/console')).statusCode).toBe(200);
  });

  it('redirects an address with a trailing slash to the one without', async () => {
    const { app } = await start();
    const to = async (url: string) => (await app.inject({ url })).headers['location'];
    expect(await to('/console/')).toBe('/console');
    expect(await to('/console/payments/?phase=init')).toBe('/console/payments?phase=init');
  });

  it('leads from the root to itself', async () => {
    const { app } = await start();
    expect(await app.inject({ url: '/' })).toMatchObject({
      statusCode: 303,
      headers: { location: '/console' },
    });
  });
});

describe('forged forms', () => {
  const action = '/console/payments/pay_1/inquire';

  it('one without the token, with another session’s, or from elsewhere does nothing', async () => {
    const { post, signIn, recorded } = await start();
    const [own, other] = [await signIn(), await signIn('operator', 'bob')];
    const before = recorded.length;
    const { cookie, csrf } = own;
    expect(csrf).not.toBe(other.csrf);
    for (const [form, headers] of [
      [{}, {}],
      [{ csrf: '' }, {}],
      [{ csrf: csrf.replace(/.$/, 'é') }, {}],
      [{ csrf: other.csrf }, {}],
      [{ csrf }, { origin: 'https://elsewhere.example' }],
      [{ csrf }, { origin: 'null' }],
      [{ csrf }, { 'sec-fetch-site': 'cross-site' }],
      [{ csrf }, { 'sec-fetch-site': 'same-site' }],
    ] as [Record<string, string>, Record<string, string>][])
      expect((await post(action, form, { cookie, ...headers })).statusCode).toBe(403);
    expect(recorded).toHaveLength(before);
    expect((await own.send(action, {})).statusCode).toBe(303);
    expect(recorded).toHaveLength(before + 1);
  });

  it('a JSON body is no form', async () => {
    const { app, signIn } = await start();
    const { cookie, csrf } = await signIn();
    const headers = { cookie, 'content-type': 'application/json' };
    const answer = await app.inject({
      method: 'POST',
      url: action,
      headers,
      payload: JSON.stringify({ csrf }),
    });
    expect(answer.statusCode).toBe(415);
  });

  it('roles are the server’s: a viewer is shown no action, and refused the one that is sent', async () => {
    const { signIn } = await start();
    const { get, send } = await signIn('viewer');
    expect((await get('/console/payments/pay_1')).body).not.toContain('/pay_1/refund"');
    const sent = await send('/console/payments/pay_1/refund', { amount: '1.00', key: 'k' });
    const shown = await get(String(sent.headers['location']));
    expect(shown.body).toMatch(/data-outcome="bad">[\s\S]*Your role, viewer, lacks the scope refunds/);
  });

  it('the result of an action is shown to its own session only', async () => {
    const { signIn } = await start();
    const [own, other] = [await signIn(), await signIn('operator', 'bob')];
    const sent = await own.send('/console/payments/pay_1/refund', { amount: 'much', key: 'k' });
    const address = String(sent.headers['location']);
    expect((await own.get(address)).body).toContain('Write it like 1250.00');
    expect((await other.get(address)).body).not.toContain('Write it like 1250.00');
    expect((await own.get('/console/payments/pay_1?done=e30.00')).statusCode).toBe(200);
    const longer = encodeURIComponent('é'.repeat(64));
    expect((await own.get(`/console/payments/pay_1?done=e30.${longer}`)).statusCode).toBe(200);
  });
});

describe('hostile texts', () => {
  it('every text is text, on every page, under a policy without unsafe-inline', async () => {
    const { signIn } = await start();
    const { get, read } = await signIn('operator', `ada ${hostile}`);
    await read('/console/reviews', 'data-row');
    const review = /href="(\/console\/reviews\/[^"]+)"/.exec((await get('/console/reviews')).body)?.[1] ?? '';
    const encoded = encodeURIComponent(hostile);
    for (const url of [
      ...['/console', '/console/payments', '/console/payments/pay_1', '/console/reviews', review],
      ...[`/console/payments?orderNumber=${encoded}&team=${encoded}`, `/console/search?q=${encoded}`],
      ...[
        `/console/payments?amountFrom=${encoded}`,
        `/console/payments/${encoded}`,
        `/console/sign-in?link=${encoded}`,
      ],
    ]) {
      const answer = await get(url);
      // Results have links.
      const { body, headers } =
        answer.statusCode === 303 ? await get(String(answer.headers['location'])) : answer;
      expect(body, url).not.toMatch(/<script>|<img|onerror=alert\(1\)>/);
      const policy = String(headers['content-security-policy']);
      expect(policy, url).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'/);
      expect(policy, url).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(body).not.toMatch(/ style="| on\w+="/);
    }
  });

  it('suggestions are text, give their reason, and need two letters', async () => {
    const { signIn } = await start();
    const { get } = await signIn('viewer');
    const suggested = (q: string) => get(`/console/search/suggestions?q=${encodeURIComponent(q)}`);
    await eventually(async () => expect((await suggested('pay')).body).toContain('Token begins with this'));
    const { body, headers } = await suggested(hostile.slice(0, 12));
    expect(body).toContain('Order number begins with this');
    expect(body).not.toMatch(/<script>|<img/);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'/);
    expect((await suggested('pay_1')).body.match(/role="option"/g)).toHaveLength(1);
    expect((await suggested('Secu')).body).toContain('href="/console/security-log"');
    expect((await suggested(`status:init reason:"${hostile}`)).body).not.toMatch(/<script>|<img/);
    for (const q of ['', 'p', 'x'.repeat(1_000)]) expect((await suggested(q)).body, q).toBe('');
  });

  it('marks a filter that the API refuses, and an empty result', async () => {
    const { signIn } = await start();
    const { get } = await signIn();
    const wrong = await get('/console/payments?amountFrom=much');
    expect(wrong.statusCode).toBe(400);
    expect(wrong.body).toContain(
      'amountFrom must be an amount in whole units of the currency, such as 12.50',
    );
    for (const url of ['/console/payments/pay_9', '/console/nowhere', '/console/sandbox'])
      expect(await get(url), url).toMatchObject({
        statusCode: 404,
        headers: { 'content-type': expect.stringContaining('text/html') },
      });
    expect((await get('/console/reviews/pay_9/discrepancy/1')).statusCode).toBe(404);
    expect((await get('/console/payments?phase=voided')).body).toContain('No payment matches these filters');
  });

  it('a view is saved by name, with its filters only, and removed', async () => {
    const { signIn } = await start();
    const { get, send, read } = await signIn('viewer');
    const list = '/console/payments?order=oldest&metadata%5Bbasket%5D=4711';
    await read('/console/payments?order=oldest', 'aria-sort="ascending"');
    const query = 'order=oldest&metadata[basket]=4711&cursor=x';
    const saved = await send('/console/payments/views', { name: hostile.slice(0, 40), query });
    expect(String(saved.headers['location'])).toMatch(
      /^\/console\/payments\?order=oldest&metadata%5Bbasket%5D=4711&done=/,
    );
    const { body } = await get(list);
    expect(body).toMatch(/order=oldest&amp;metadata%5Bbasket%5D=4711"\s+aria-current/);
    expect(body).not.toContain('<script>alert');
    const other = await signIn('viewer', 'bob');
    expect((await other.get(list)).body).toContain('Save this view');
    await send('/console/payments/views/remove', { name: hostile.slice(0, 40), query });
    expect((await get(list)).body).toContain('Save this view');
    const refused = await send('/console/payments/views', { name: ' ', query });
    expect((await get(String(refused.headers['location']))).body).toContain('must not be empty');
  });

  it('search leads to the one that is meant', async () => {
    const { signIn } = await start();
    const { get } = await signIn();
    const to = async (q: string) =>
      (await get(`/console/search?q=${encodeURIComponent(q)}`)).headers['location'];
    expect(await to('pay_1')).toBe('/console/payments/pay_1');
    expect(await to('status:approved amount:>1 last:24h')).toBe(
      '/console/payments?status=approved&amountFrom=1&last=24h',
    );
    expect(await to('reviews')).toBe('/console/reviews');
    expect(await to('SHO')).toBe('/console/teams/shop');
    expect(await to('metadata.order:4711')).toBe('/console/payments?metadata%5Border%5D=4711');
  });
});

it('if two people must resolve a review, the first answer is stored and the second one decides', async () => {
  const { signIn } = await start({ reviewsByTwo: ['sandbox'] });
  const review = '/console/reviews/pay_1/discrepancy/1';
  const answer = { resolution: 'keep_ours', team: 'shop', environment: 'sandbox' };
  const [ada, bob] = [await signIn('admin'), await signIn('admin', 'bob')];
  await ada.read(review, 'name="resolution"');
  const stored = await ada.sendAndRead(review, { ...answer, reason: 'The bank has it.' });
  expect(stored).toContain('takes effect when a second person gives the same one');
  await bob.read('/console/reviews', 'One of two people has answered.');
  const { body } = await bob.get(review);
  expect(body).toMatch(/id="proposal"[^]*The bank has it\./);
  expect(body).toContain('The same answer from you takes effect at once');
  expect(await bob.sendAndRead(review, { ...answer, reason: 'I have asked, too.' })).toContain(
    'Resolved: 15.00 EUR',
  );
});

it('a refresh is answered without content until the page changes, one at a time', async () => {
  const { app, signIn, store } = await start();
  const { cookie } = await signIn();
  const refresh = async (shown: unknown = 'first') => {
    const { statusCode, headers } = await app.inject({
      url: '/console/payments/pay_1',
      headers: { cookie, 'tollgate-unattended': String(shown) },
    });
    return { statusCode, version: headers['tollgate-page-version'] };
  };
  const [first, second] = await Promise.all([refresh(), refresh()]);
  expect([first.statusCode, second.statusCode].toSorted()).toEqual([200, 204]);
  const version = first.version ?? second.version;
  await eventually(async () => expect(await refresh(version)).toEqual({ statusCode: 204, version }));
  await projectEvents(store, paymentKind, 'pay_1', [happening.refunding]);
  await eventually(async () => expect((await refresh(version)).statusCode).toBe(200));
});

it('the first page is less than 100 KB with all that it loads', async () => {
  const { app, signIn } = await start();
  const { get } = await signIn();
  const { body } = await get('/console');
  const base = /href="(\/console\/static\/[0-9a-f]+)\//.exec(body)?.[1] ?? '';
  const scripts = ['console.js', 'live.js', 'times.js', 'keyboard.js', 'suggestions.js', 'further.js'];
  const files = ['console.css', ...scripts];
  const answers = await Promise.all(files.map((file) => app.inject({ url: `${base}/${file}` })));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(files.map(() => 200));
  const bytes = answers.reduce((sum, answer) => sum + answer.rawPayload.length, Buffer.byteLength(body));
  expect(bytes).toBeLessThan(100_000);
  expect(answers[0]?.headers['cache-control']).toContain('immutable');
});
