import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import { payoutKind } from '@tollgate/views';
import type { PaymentIndex } from '@tollgate/lists';
import { happening, payoutRequested, requested, startedAt } from '@tollgate/views/testing';
import { TollgateError } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { errorsOf, given, refused, shop, start } from './testing/harness.ts';

const url = '/api/v1/payments.csv';
const { accepted, approved, reviews, declined } = happening;
const at = (number: number) => new Date(startedAt + number * 1_000).toISOString();

const linesOf = (text: string) => text.replace('\uFEFF', '').split('\r\n');
const tokensOf = (text: string) =>
  linesOf(text)
    .slice(1, -1)
    .map((line) => line.split(',')[1]);

async function givenSome() {
  const services = await start();
  const { store } = services;
  await given(store, {
    pay_1: [requested({ orderNumber: '=1+1', metadata: { order: '4711' } }), accepted, approved, reviews],
    pay_2: [requested({ orderNumber: 'A,"1"', currency: 'JPY' }), accepted, declined],
    theirs: [requested({ team: 'games' })],
  });
  const headers = await given(store, { po_1: [payoutRequested()] }, payoutKind);
  return { ...services, headers };
}

describe('the file', () => {
  test('has a line of names and one of each payment, newest first', async () => {
    const { get, headers } = await givenSome();
    const answer = await get(url, headers);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="payments-shop.csv"',
    });
    expect(linesOf(answer.body)).toEqual([
      'operationType,token,status,phase,createdAt,updatedAt,orderNumber,product,currency,amount,amountDecimal,needConfirmation,locale,recurring,recurringToken,heldAmount,heldAmountDecimal,approvedAmount,approvedAmountDecimal,refundedAmount,refundedAmountDecimal,disputedAmount,disputedAmountDecimal,lostAmount,lostAmountDecimal,sanitizedMask,declineReason,revision,reviews,metadata',
      `payment,pay_2,declined,declined,${at(0)},${at(2)},"A,""1""",Tea,JPY,1500,1500,false,,,,0,0,0,0,0,0,0,0,0,0,,insufficient funds,2,,`,
      `payment,pay_1,approved,approved,${at(0)},${at(3)},'=1+1,Tea,EUR,1500,15.00,false,,,,0,0.00,1500,15.00,0,0.00,0,0.00,0,0.00,439296******1251,,3,discrepancy,"{""order"":""4711""}"`,
      '',
    ]);
  });

  test('spans many pages', async () => {
    const services = await start();
    const histories = Array.from({ length: 120 }, (_, number) => [`p${number + 1_000}`, [requested()]]);
    const headers = await given(services.store, Object.fromEntries(histories));
    const { body } = await services.get(url, headers);
    expect(tokensOf(body)).toEqual(histories.map(([token]) => token).reverse());
  });
});

/** An index whose list has this many pages. */
async function givenEndless(changes: { failAt?: number; stalledMs?: number } = {}) {
  let pages = 0;
  const list = (
    index: PaymentIndex,
    query: Parameters<PaymentIndex['listPayments']>[0],
  ): ReturnType<PaymentIndex['listPayments']> => {
    pages += 1;
    if (pages === changes.failAt)
      throw new TollgateError('index_rebuilding', 'The index is rebuilding.', { retryable: true });
    const { cursor: _, ...first } = query;
    const page = index.listPayments(first);
    if (page.kind !== 'page') return page;
    // Large ones, so that the socket buffers are soon full.
    return {
      ...page,
      views: Array.from({ length: 1_000 }, () => page.views).flat(),
      nextCursor: 'next',
    };
  };
  const services = await start(undefined, {
    wrapIndex: (index) => ({ ...index, listPayments: (query) => list(index, query) }),
    options: changes.stalledMs === undefined ? {} : { exportStalledMs: changes.stalledMs },
  });
  const headers = await given(services.store, { p1: [requested()] });
  await services.get('/api/v1/payments/p1', headers);
  await services.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = services.app.server.address() as AddressInfo;
  const open = (authorization = shop) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const request = httpGet({
        port,
        host: '127.0.0.1',
        path: url,
        agent: false,
        headers: { authorization },
      });
      request.on('response', resolve).on('error', reject);
      onTestFinished(() => void request.destroy());
    });
  /** Resolves when no more pages have been read for a while. */
  const untilStill = () =>
    eventually(async () => {
      const before = pages;
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(pages).toBe(before);
    });
  return { ...services, open, untilStill, pages: () => pages };
}

/** The outcome of an answer that is read to its end. */
async function readToEnd(answer: IncomingMessage): Promise<'complete' | 'broken off'> {
  try {
    await finished(answer.resume());
    return 'complete';
  } catch {
    return 'broken off';
  }
}

describe('a long export', () => {
  test('reads no further than its client does, and ends when the client disconnects', async () => {
    const { open, untilStill, pages } = await givenEndless();
    const answer = await open();
    await untilStill();
    const before = pages();
    await eventually(() => {
      while (answer.read() !== null);
      expect(pages()).toBeGreaterThan(before);
    });
    answer.destroy();
    await untilStill();
  });

  test('that fails breaks the connection, and is not a short file', async () => {
    const { open } = await givenEndless({ failAt: 5 });
    const answer = await open();
    expect(answer.statusCode).toBe(200);
    expect(await readToEnd(answer)).toBe('broken off');
  });

  test('that cannot be begun is answered as a list is', async () => {
    const { get } = await givenEndless({ failAt: 1 });
    const answer = await get(url);
    expect(errorsOf(answer)).toEqual(refused(503, 'read_model_behind', 'api_error'));
    expect(answer.headers['retry-after']).toBe('5');
    expect(answer.headers).not.toHaveProperty('content-disposition');
    expect((await get('/api/v1/payments')).statusCode).toBe(200);
  });

  test('of a client that reads nothing is aborted', async () => {
    const { open, app } = await givenEndless({ stalledMs: 50 });
    const answer = await open();
    const connections = promisify(app.server.getConnections.bind(app.server));
    await eventually(async () => expect(await connections()).toBe(0));
    expect(await readToEnd(answer)).toBe('broken off');
  });

  test('does not keep the process from ending', async () => {
    const { open, app } = await givenEndless();
    const answer = await open();
    await app.close();
    expect(await readToEnd(answer)).toBe('broken off');
  });

  test('does not begin when the process ends', async () => {
    const { app } = await givenEndless();
    const accepted = once(app.server, 'connection');
    const { port } = app.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    await accepted;
    const closing = app.close();
    socket.write(`GET ${url} HTTP/1.1\r\nHost: x\r\nAuthorization: ${shop}\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1.1 429 /);
    await closing;
  });
});
