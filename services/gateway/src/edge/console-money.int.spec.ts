/** Refunds, disputes, payouts that wait for a second person, and reconciliations, in the console and under the routes across teams. */
import { systemClock } from '@tollgate/service-kit';
import { keyIdOfPerson } from '@tollgate/teams';
import {
  disputeHappening,
  disputeOpened,
  happening,
  projectEvents,
  payoutApprovalRequested,
  payoutHappening,
  payoutRequested,
  requested,
} from '@tollgate/views/testing';
import { disputeKind, paymentKind, payoutKind } from '@tollgate/views';
import { describe, expect, it } from 'vitest';
import { hostile, startWithShop } from './testing/console.ts';

const waitingFor = (askedBy: string, orderNumber: string) => {
  const { type, data } = payoutApprovalRequested({ orderNumber });
  const lapsesAt = systemClock.now() + 86_400_000;
  return [{ type, data: { ...data, askedBy, lapsesAt } }] as Parameters<typeof projectEvents>[3];
};

const start = () =>
  startWithShop(async (store) => {
    await projectEvents(store, payoutKind, 'po_1', waitingFor('k1', hostile));
    await projectEvents(store, payoutKind, 'po_2', waitingFor(keyIdOfPerson('ada'), 'own'));
    const lapsesAt = systemClock.now() + 86_400_000;
    await projectEvents(store, payoutKind, 'po_4', [
      ...waitingFor('k1', 'granted'),
      { type: 'PayoutApprovalGranted', data: { grantedBy: 'k2', lapsesAt } },
    ]);
    await projectEvents(store, payoutKind, 'po_3', [payoutRequested(), payoutHappening.failed]);
  });

describe('the list of refunds', () => {
  const startWithRefunds = () =>
    startWithShop(async (store) => {
      const { accepted, approved, refunding, refundApproved } = happening;
      const open = { ...refunding, data: { ...refunding.data, refundToken: 'ref_open' } };
      const events = [requested(), accepted, approved, refunding, refundApproved, open];
      await projectEvents(store, paymentKind, 'pay_1', events);
    });

  it('lists those under way first, filters, and links to the payment and to the file', async () => {
    const { get, read } = await (await startWithRefunds()).signIn('viewer');
    const body = await read('/console/refunds', 'ref_open');
    expect(body).not.toContain('ref_1');
    expect(body).toContain('href="/console/payments/pay_1"');
    expect((await get('/console/refunds?status=&team=shop&paymentToken=pay_1')).body).toContain('ref_1');
    expect((await get('/console/refunds?status=&to=2026-01-01')).body).toContain('No refund here.');
    const wrong = await get('/console/refunds?from=yesterday');
    expect([wrong.statusCode, wrong.body.includes('createdFrom must be an instant')]).toEqual([400, true]);
    const [, file = ''] = /href="(\/console\/refunds\.csv[^"]*)"/.exec(body) ?? [];
    const csv = await get(file.replaceAll('&amp;', '&'));
    expect(csv.headers['content-disposition']).toBe('attachment; filename="refunds-all-teams.csv"');
    expect(csv.body).toMatch(/^\uFEFFteam,environment,token,.*\r\nshop,sandbox,ref_open,.*\r\n$/);
  });
});

describe('disputes', () => {
  const startWithDisputes = () =>
    startWithShop(async (store) => {
      const { accepted, approved, disputed } = happening;
      const review = { disputeToken: 'dsp_1', amount: 600, currency: 'EUR' };
      const opened = { type: 'ReviewOpened', data: { code: 'dispute_opened', evidence: review } } as const;
      await projectEvents(store, paymentKind, 'pay_1', [requested(), accepted, approved, disputed, opened]);
      const about = { team: 'shop', paymentToken: 'pay_1' };
      await projectEvents(store, disputeKind, 'dsp_1', [disputeOpened({ ...about, id: hostile })]);
      await projectEvents(store, disputeKind, 'dsp_2', [disputeOpened({ id: 'D-2' })]);
      const lost = [disputeOpened({ ...about, id: 'D-3' }), disputeHappening.changed];
      await projectEvents(store, disputeKind, 'dsp_3', lost);
    });

  it('are listed, open ones first, with those of no known payment', async () => {
    const { get, read } = await (await startWithDisputes()).signIn('viewer');
    await read('/console/disputes?status=', 'D-3');
    const { body } = await get('/console/disputes');
    expect(body).toContain('href="/console/payments/pay_1"');
    expect(body).toContain('D-2');
    expect(body).not.toContain('D-3');
    expect(body).not.toContain('<script>alert');
    expect((await get('/console/disputes?status=&team=shop')).body).not.toContain('D-2');
    expect((await get('/console/disputes?status=won')).body).toContain('No dispute here.');
    const csv = await get('/console/disputes.csv?status=lost');
    expect(csv.body).toMatch(/^\uFEFFteam,environment,token,.*\r\nshop,sandbox,dsp_3,.*\r\n$/);
  });

  it('are shown with the payment: the disputed amount, the next step, and the unrefundable amount', async () => {
    const { get, read } = await (await startWithDisputes()).signIn('support');
    await read('/console/payments', 'Disputed');
    const { body } = await get('/console/payments/pay_1');
    expect(body).toMatch(/Disputed: 6\.00 EUR\. Answer the bank in the provider.+s console\./);
    expect(body).toContain('6.00 EUR is disputed or lost in a dispute and cannot be refunded.');
    expect(body).toContain('value="9.00"');
    expect(body).toMatch(
      /<li class="dispute note">[\s\S]*cannot be refunded or paid out until the bank decides/,
    );
  });
});

describe('the page of the money', () => {
  const startWithMoney = () =>
    startWithShop(async (store) => {
      const { accepted, approved, refunding } = happening;
      await projectEvents(store, paymentKind, 'pay_1', [requested(), accepted, approved, refunding]);
    });

  it('shows each wallet, the statement of a month, and the entries behind an amount', async () => {
    const { get, read } = await (await startWithMoney()).signIn('viewer');
    const url = '/console/money?month=2026-01';
    const body = await read(url, 'team-shop');
    for (const text of [
      '>10.00<',
      '>5.00<',
      '>-15.00<',
      ' · EUR<',
      'Statement of 2026-01',
      'Opening',
      'Closing',
    ])
      expect(body).toContain(text);
    expect((await get('/console/money?month=2025-12')).body).toContain('No money moved until the end');
    expect((await get('/console/money?month=2026-13')).statusCode).toBe(400);
    const [, entries = ''] = /href="([^"]*ledgerAccount=reserved[^"]*)"/.exec(body) ?? [];
    const journal = (await get(entries.replaceAll('&amp;', '&'))).body;
    expect(journal).toContain('href="/console/payments/pay_1"');
    expect(journal).toContain('Available -5.00 EUR, Reserved +5.00 EUR');
    expect((await get('/console/money/journal?kind=transfer')).body).toContain('No entry matches');
    for (const name of ['journal', 'statements']) {
      const [, file = ''] = new RegExp(`href="(/console/${name}\\.csv[^"]*)"`).exec(body) ?? [];
      const csv = await get(file.replaceAll('&amp;', '&'));
      expect(csv.headers['content-disposition']).toBe(`attachment; filename="${name}-all-teams-2026-01.csv"`);
      expect(csv.body).toMatch(/^\uFEFF[^]*team-shop/);
    }
  });
});

describe('a payout that waits for an approval', () => {
  it('is listed before all others, with user input as text', async () => {
    const { get, read } = await (await start()).signIn('viewer');
    const body = await read('/console/payouts', 'po_1');
    expect(body).toContain('po_2');
    expect(body).not.toContain('po_3');
    expect(body).not.toContain('<script>alert');
    expect((await get('/console/payouts?phase=')).body).toContain('po_3');
    expect((await get('/console/payouts?phase=nothing')).statusCode).toBe(400);
    expect((await get('/console/payouts/po_9')).statusCode).toBe(404);
    expect((await get('/console/payouts/po_1')).body).not.toContain('<script>alert');
  });

  it('is approved by an admin other than the requester, and recorded before it is sent', async () => {
    const { signIn, recorded } = await start();
    const { get, sendAndRead } = await signIn('admin');
    expect((await get('/console/payouts/po_1')).body).toContain('Approve 3.00 EUR');
    // It goes to a card, which no account number names.
    const compared = await sendAndRead('/console/payouts/po_1/compare', { account: 'DE02' });
    expect(compared).toContain('data-outcome="bad"');
    expect(compared).not.toContain('goes to this account');
    expect(await sendAndRead('/console/payouts/po_1/approve', {})).toContain('Approved. Nothing is sent yet');
    expect(recorded.at(-1)).toMatchObject({
      person: { name: 'ada' },
      command: 'POST /api/v1/payouts/:token/approve',
      detail: { team: 'shop', token: 'po_1', role: 'admin' },
    });
    const { body } = await get('/console/payouts/po_1');
    expect(body).toContain('person:ada');
    // The person who releases money is recorded, as everyone who moves it.
    expect(body).toMatch(/PayoutApprovalGranted<\/code> · ada/);
  });

  it('is refused with a reason, which is text', async () => {
    const { sendAndRead } = await (await start()).signIn('admin', 'bob');
    expect(await sendAndRead('/console/payouts/po_2/refuse', { reason: '' })).toContain('data-outcome');
    const refused = await sendAndRead('/console/payouts/po_2/refuse', { reason: hostile });
    expect(refused).toContain('The payout is refused.');
    expect(refused).not.toContain('<script>alert');
  });

  it('may be refused until it is sent, even when approved', async () => {
    const { get, sendAndRead } = await (await start()).signIn('admin');
    expect((await get('/console/payouts/po_4')).body).toContain('Refuse the payout');
    expect((await get('/console/payouts/po_4')).body).not.toContain('/po_4/approve');
    expect(await sendAndRead('/console/payouts/po_4/refuse', { reason: 'not ours' })).toContain(
      'The payout is refused.',
    );
    expect((await get('/console/payouts/po_4')).body).not.toContain('Refuse the payout');
  });

  it('in review is marked, with a link to the review', async () => {
    const { signIn } = await startWithShop(async (store) => {
      const paid = [payoutRequested(), payoutHappening.accepted, payoutHappening.secondFound];
      await projectEvents(store, payoutKind, 'po_6', paid);
    });
    const { get } = await signIn('admin');
    const { body } = await get('/console/payouts/po_6');
    expect(body).toContain('The Payment Service shows a second payout for the same order.');
    expect(body).toContain('/console/reviews/po_6/discrepancy/1');
    const review = await get('/console/reviews/po_6/discrepancy/1');
    expect(review.body).toContain('href="/console/payouts/po_6"');
  });

  it('is not decided by its requester, and not offered to a lower role', async () => {
    const { signIn } = await start();
    const ada = await signIn('admin');
    expect((await ada.get('/console/payouts/po_2')).body).toContain('You requested this payout');
    const own = await ada.sendAndRead('/console/payouts/po_2/approve', {});
    expect(own).toMatch(/class="notice bad"[\s\S]*key that requested/);
    const operator = await signIn('operator', 'bob');
    expect((await operator.get('/console/payouts/po_1')).body).not.toContain('/po_1/approve');
  });
});

describe('a reconciliation', () => {
  const wanted = { account: 'sandbox/main', day: '2026-01-02', isDryRun: 'true' };

  it('is requested by a person, who is recorded', async () => {
    const { signIn, recorded, store } = await start();
    const { sendAndRead } = await signIn('support');
    expect(await sendAndRead('/console/reconciliations', wanted)).toContain(
      '2026-01-02 of main is being compared.',
    );
    expect(recorded.at(-1)).toMatchObject({ command: 'POST /api/v1/admin/reconciliations' });
    const [asked] = await Array.fromAsync(store.read('reconciliations'));
    expect(asked).toMatchObject({
      type: 'ReconciliationRequested',
      data: { account: 'main', environment: 'sandbox', day: '2026-01-02', isDryRun: true, by: 'person' },
      metadata: { actor: { kind: 'person', name: 'ada' } },
    });
  });

  it.each([
    [{ account: '' }, 'Choose an account.'],
    [{ day: 'yesterday' }, 'must be a day written YYYY-MM-DD'],
    [{ day: '2999-01-01' }, 'The day must not be in the future.'],
    [{ account: 'nowhere/main' }, 'data-outcome'],
  ])('is refused with %j', async (wrong, text) => {
    const { signIn, store } = await start();
    const { sendAndRead } = await signIn('operator');
    const page = await sendAndRead('/console/reconciliations', { ...wanted, ...wrong });
    expect(page).toContain(text);
    expect(await Array.fromAsync(store.read('reconciliations'))).toEqual([]);
  });

  it('is found under its own token only', async () => {
    const { get } = await (await start()).signIn('viewer');
    for (const token of ['rcn_none', '..%2Fx'])
      expect((await get(`/console/reconciliations/${token}`)).statusCode).toBe(404);
  });
});
