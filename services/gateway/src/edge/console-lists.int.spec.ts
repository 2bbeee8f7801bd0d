/** Lists in the console show exactly what was requested, and report an invalid request. */
import { paymentKind } from '@tollgate/views';
import { projectEvents, happening, requested } from '@tollgate/views/testing';
import { describe, expect, it } from 'vitest';
import { hostile, startWithShop } from './testing/console.ts';

const { accepted, approved, reviews } = happening;

async function start() {
  const { signIn } = await startWithShop((store) =>
    projectEvents(store, paymentKind, 'pay_1', [requested(), accepted, approved, reviews]),
  );
  const { get, send, read } = await signIn('support');
  await read('/console/payments', 'pay_1');
  return { get, send };
}

describe('a range of time', () => {
  /** `last:2d` was left out in silence: the list of two days was the list of all time. */
  it('is any number of minutes, hours and days', async () => {
    const { get } = await start();
    // The payment is of January 2026.
    for (const span of ['2d', '90m', '1h', '9999m'])
      expect((await get(`/console/payments?last=${span}`)).body, span).not.toContain('/payments/pay_1"');
    expect((await get('/console/payments?last=9999d')).body).toContain('/console/payments/pay_1');
    const { headers } = await get(`/console/search?q=${encodeURIComponent('status:approved last:2d')}`);
    expect((await get(String(headers['location']))).body).toContain('No payment matches these filters');
  });

  /** Names that every object has were answered by a failure of the page. */
  it.each(['last=2w', 'last=constructor', 'before=valueOf', 'last=__proto__', 'before=-1d'])(
    '%s is invalid, and marked as wrong',
    async (query) => {
      const { get } = await start();
      const { statusCode, body } = await get(`/console/payments?${query}`);
      expect(statusCode).toBe(400);
      expect(body).toMatch(/created(From|Before) must be an instant/);
      expect(body).not.toContain('/console/payments/pay_1');
    },
  );
});

describe('an exact range of time', () => {
  // The payment is of 2 January 2026, 03:04:06 UTC.
  it.each([
    ['from=2026-01-02', true],
    ['from=2026-01-02T03:05', false],
    ['from=2026-01-02T04:04%2B01:00&to=2026-01-02T03:05', true],
    ['to=2026-01-02T03:04', false],
    ['to=2026-01-02T03:04:59Z', true],
    // Of two beginnings the later one counts.
    ['from=2026-01-01&last=1h', false],
  ])('%s shows it: %s', async (query, isShown) => {
    const { get } = await start();
    const { body } = await get(`/console/payments?${query}`);
    expect(body.includes('/console/payments/pay_1"')).toBe(isShown);
  });

  it('is shown as requested, to the minute, and not marked as wrong', async () => {
    const { get } = await start();
    const { body } = await get('/console/payments?from=2026-01-02T04:04%2B01:00');
    expect(body).toContain('name="from" value="2026-01-02T03:04"');
    for (const value of ['yesterday', '2026-13-01', '2026-01-02T25:00', '1', '2026-01-02 03:04']) {
      const wrong = await get(`/console/payments?to=${encodeURIComponent(value)}`);
      expect(wrong.statusCode, value).toBe(400);
      expect(wrong.body, value).toContain('createdBefore must be an instant');
    }
  });
});

it('declined payments are counted by reason, and each count leads to the payments that it counts', async () => {
  const { declined } = happening;
  const { signIn } = await startWithShop(async (store) => {
    const unnamed = { ...declined, data: {} };
    const hurt = { ...declined, data: { declineReason: hostile } };
    for (const [token, how] of [
      ['pay_1', declined],
      ['pay_2', declined],
      ['pay_3', unnamed],
      ['pay_4', hurt],
    ] as const)
      await projectEvents(store, paymentKind, token, [requested(), accepted, how]);
  });
  const { get, read } = await signIn('viewer');
  const list = '/console/payments?phase=declined&from=1970-01-01';
  const body = await read(list, 'pay_4');
  expect(body).toMatch(/insufficient funds <b>2<\/b>[\s\S]*no reason given <b>1<\/b>/);
  expect(body).not.toContain('<script>alert');
  const link =
    /href="([^"]*declineReason=insufficient[^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const { body: counted } = await get(link);
  expect(['pay_1', 'pay_2', 'pay_3'].map((token) => counted.includes(`/${token}"`))).toEqual([
    true,
    true,
    false,
  ]);
  expect((await get('/console/payments?phase=approved')).body).not.toContain('By reason');
});

it('a name that every object has is not a field of ours', async () => {
  const { get } = await start();
  expect((await get('/console/search?q=constructor:foo')).body).toContain('No results');
});

describe('the file of a list', () => {
  /** The list was filtered by a day and by an amount, and its file had everything that the team ever sold. */
  it('has the rows of the list, over all teams and any range', async () => {
    const { get } = await start();
    for (const [filter, isListed] of [
      ...['', 'team=shop', 'status=approved', 'needsReview=true', 'currency=EUR'].map((each) => [each, true]),
      ...['last=9999d', 'amountFrom=15&amountTo=15.0', 'from=2026-01-02'].map((each) => [each, true]),
      ...['status=declined', 'orderNumber=none', 'metadata=order:4711'].map((each) => [each, false]),
      ...['last=24h', 'amountTo=14.99', 'account=other', 'sanitizedMask=0000'].map((each) => [each, false]),
    ] as [string, boolean][]) {
      const { body } = await get(`/console/payments?${filter}`);
      const link = /href="(\/console\/payments\.csv[^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? '';
      expect(body.includes('/console/payments/pay_1'), filter).toBe(isListed);
      expect((await get(link)).body.includes(',payment,pay_1,'), filter).toBe(isListed);
    }
  });

  it('is named after its team and month, and has amounts in minor and in whole units', async () => {
    const { get } = await start();
    const month = 'createdFrom=2026-01-01T00:00:00Z&createdBefore=2026-02-01T00:00:00Z';
    for (const [asked, name] of [
      [month, 'payments-all-teams-2026-01.csv'],
      [`team=shop&${month}`, 'payments-shop-2026-01.csv'],
      ['team=shop', 'payments-shop.csv'],
      [
        'createdFrom=2026-01-01T00:00:00Z&createdBefore=2026-01-04T00:00:00Z',
        'payments-all-teams-2026-01-01-to-2026-01-03.csv',
      ],
    ]) {
      const { headers, body } = await get(`/console/payments.csv?${asked}`);
      expect(headers['content-disposition']).toBe(`attachment; filename="${name}"`);
      expect(body).toMatch(/^\uFEFFteam,environment,account,.*,currency,amount,amountDecimal,/);
      expect(body).toContain(',EUR,1500,15.00,');
    }
  });

  it('that is refused gives the reason', async () => {
    const { get } = await start();
    const { statusCode, body } = await get('/console/payments.csv?team=shop&environment=sandbox&phase=x');
    expect(statusCode).toBe(400);
    expect(body).toContain('phase ');
    expect(body).toContain('<code>req_');
  });
});

/** After forgotten reviews of the sandbox, one of production was in no list, and was called resolved on its page. */
it('a review of production is listed before all of the sandbox, and opened from its payment', async () => {
  const { signIn } = await startWithShop(async (store) => {
    for (let n = 0; n < 101; n += 1)
      await projectEvents(store, paymentKind, `pay_${n}`, [requested(), accepted, approved, reviews]);
    const live = requested({ environment: 'production' });
    await projectEvents(store, paymentKind, 'pay_live', [live, accepted, approved, reviews]);
  });
  const { get, read } = await signIn('operator');
  const body = await read('/console/reviews', '102 reviews are open');
  const paths = (html: string) => html.match(/\/console\/reviews\/pay_\w+/g) ?? [];
  expect(paths(body)).toHaveLength(100);
  expect(paths(body)[0]).toBe('/console/reviews/pay_live');
  const further = /rel="next" href="([^"]+)"/.exec(body)?.[1] ?? '';
  const rest = paths((await get(further)).body);
  expect(new Set([...paths(body), ...rest]).size).toBe(102);
  const last = (await get('/console/payments/pay_live')).body;
  for (const page of [last, (await get(further)).body]) {
    const opened = await get(/href="(\/console\/reviews\/pay_[^"]+)"/.exec(page)?.[1] ?? '');
    expect(opened.statusCode).toBe(200);
    expect(opened.body).toContain('>Decision<');
  }
  const overview = (await get('/console')).body;
  expect(overview).toMatch(/href="\/console\/reviews"><b>102<\/b> open reviews/);
  expect(overview).toMatch(/<small>oldest <time/);
}, 60_000);
