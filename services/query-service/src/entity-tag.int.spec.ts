import { payoutKind } from '@tollgate/views';
import { refundKeyStream } from '@tollgate/core';
import {
  appendEvents,
  happening,
  payoutHappening,
  payoutRequested,
  requested,
} from '@tollgate/views/testing';
import { describe, expect, test } from 'vitest';
import { errorsOf, games, given, notFound, start } from './testing/harness.ts';

const { accepted, approved, refunding, refundApproved } = happening;

async function givenOneOfEach() {
  const services = await start();
  await given(services.store, { pay_1: [requested(), accepted, approved, refunding] });
  const data = { environment: 'sandbox', team: 'shop', paymentToken: 'pay_1', fingerprint: 'f' };
  await appendEvents(services.store, refundKeyStream('ref_1'), [{ type: 'RefundKeyUsed', data }]);
  const headers = await given(services.store, { po_1: [payoutRequested()] }, payoutKind);
  return { ...services, headers };
}

describe.each([
  '/api/v1/payments/pay_1',
  '/api/v1/payouts/po_1',
  '/api/v1/refunds/ref_1',
  '/api/v1/payments/po_1',
])('%s', (url) => {
  test('has a strong tag, which is the same until its content changes', async () => {
    const { get, store, headers } = await givenOneOfEach();
    const first = await get(url, headers);
    expect(first.statusCode).toBe(200);
    expect(first.headers).toMatchObject({
      etag: expect.stringMatching(/^"[\w-]{27}"$/) as string,
      'content-type': 'application/json; charset=utf-8',
    });
    expect((await get(url)).headers.etag).toBe(first.headers.etag);
    await given(store, { pay_1: [refundApproved] });
    const later = await given(store, { po_1: [payoutHappening.accepted] }, payoutKind);
    const changed = await get(url, { ...later, 'if-none-match': String(first.headers.etag) });
    expect(changed.statusCode).toBe(200);
    expect(changed.headers.etag).not.toBe(first.headers.etag);
  });

  test('is not sent again to a caller that has it', async () => {
    const { get, headers } = await givenOneOfEach();
    const tag = String((await get(url, headers)).headers.etag);
    for (const known of [
      tag,
      `W/${tag}`,
      '*',
      ` * `,
      `"other", ${tag}`,
      `"with,comma" ,W/${tag},"x"`,
      `"",${tag}`,
    ]) {
      const answer = await get(url, { 'if-none-match': known });
      expect([answer.statusCode, answer.body], known).toEqual([304, '']);
      expect(answer.headers, known).toMatchObject({ etag: tag });
      expect(answer.headers, known).not.toHaveProperty('content-type');
    }
    const bare = tag.slice(1, -1);
    for (const other of [
      '"other"',
      bare,
      `"${bare}x"`,
      `"*"`,
      `"${bare.toLowerCase()}A"`,
      '',
      `"x,${bare}"`,
    ]) {
      const answer = await get(url, { 'if-none-match': other });
      expect(answer.statusCode, other).toBe(200);
    }
  });
});

test('a caller that may not see it gets the same answer with any tag', async () => {
  const { get, getAs } = await givenOneOfEach();
  for (const headers of [{}, { 'if-none-match': '*' }] as Record<string, string>[])
    expect(errorsOf(await getAs(games)('/api/v1/payments/pay_1', headers))).toEqual(notFound);
  const none = await get('/api/v1/payments/none', { 'if-none-match': '*' });
  expect(errorsOf(none)).toEqual(notFound);
  expect(none.headers).not.toHaveProperty('etag');
});
