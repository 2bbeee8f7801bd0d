/** Searches everything that the system writes for planted secrets, in every encoding, while it runs and afterwards. */
import { dayMs } from '@tollgate/service-kit';
import { chmodSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beginning } from '@tollgate/event-store';
import { eventually, startReceiver } from '@tollgate/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payOnHostedPage } from '@tollgate/payment-service/customer';
import { eventFiles, sandboxKeyFiles } from './arrangement.ts';
import { issueKey, tollgate } from './commands.ts';
import { ledgerOf, serviceTokenOf } from './ledger.ts';
import { storeOf, textsOnTopics } from './topic.ts';
import { type CallGateway, type System, newDataDir, startSystem, stopEverything } from './system.ts';

afterAll(stopEverything);

/** Not the test card that the start prints. */
const card = '4730198364688516';

function filesOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

interface FoundFile {
  /** Relative; a write-ahead log counts as its database. */
  name: string;
  bytes: Buffer;
}

const readFiles = ({ dataDir }: System): FoundFile[] =>
  filesOf(dataDir).map((file) => ({
    name: file.slice(dataDir.length + 1).replace(/-wal$/, ''),
    bytes: readFileSync(file),
  }));

/** A text, and its encodings that are long enough not to match by chance. */
const encodingsOf = (text: string): string[] => [
  text,
  ...[
    Buffer.from(text).toString('hex'),
    encodeURIComponent(text),
    // Without the ends, which depend on the adjacent text.
    ...[0, 1, 2].flatMap((shift) => {
      const base64 = Buffer.from(' '.repeat(shift) + text)
        .toString('base64')
        .slice(4, -4);
      return [base64, base64.replaceAll('+', '-').replaceAll('/', '_')];
    }),
  ].filter((each) => each.length >= 8),
];

function filesWith(files: readonly FoundFile[], text: string): string[] {
  const encodings = encodingsOf(text);
  const found = files.filter(({ bytes }) => encodings.some((each) => bytes.includes(each)));
  return [...new Set(found.map(({ name }) => name))].sort();
}

/** Requires the customer's authentication, and is approved. */
const recurringCard = '4617611794313933';
const chargedCard = '5555555555554444';
const payoutCard = '4627342642639018';
const bankAccount = 'DE89370400440532013000';
const cvv = '7391';
const terms = { product: 'Tea', amount: 1250, currency: 'EUR' };
/** Only a busy machine needs this long. */
const settled = { timeoutMs: 30_000 };
const receivedCallbacks = 'bus-provider.callbacks.v1';

/** All answers to a team. */
interface Heard {
  gateway: CallGateway;
  answers: string[];
}

const listen = (gateway: CallGateway): Heard => {
  const answers: string[] = [];
  const noted: CallGateway = async (...call) => {
    const { headers, body, ...rest } = await gateway(...call);
    answers.push(JSON.stringify({ headers, body }));
    return { headers, body, ...rest };
  };
  return { gateway: noted, answers };
};

const post = (gateway: CallGateway, path: string, body: object, key = '') =>
  gateway('POST', `/api/v1/${path}`, {
    body,
    ...(key === '' ? {} : { headers: { 'idempotency-key': key } }),
  });

/** Repeated, like a team, while the outcome is unknown. */
const untilDone = (ask: () => ReturnType<CallGateway>) =>
  eventually(async () => {
    const answer = await ask();
    expect(answer).toMatchObject({ statusCode: 200 });
    return answer;
  }, settled);

async function untilStatus(gateway: CallGateway, token: string, status: string): Promise<void> {
  await eventually(async () => {
    const { body } = await gateway('GET', `/api/v1/payments/${token}`);
    expect(body.payment.status).toBe(status);
  }, settled);
}

/** Card numbers in unrelated fields. */
async function misplaceCards({ quickstart }: System, gateway: CallGateway): Promise<void> {
  await post(gateway, 'payments', { ...terms, orderNumber: card });
  await post(gateway, 'payments', { ...terms, orderNumber: 'order-3', product: card });
  await post(gateway, 'payments', terms, card);
  await post(gateway, 'payments', { ...terms, orderNumber: 'order-4', card: { pan: `${card}x`, cvv } });
  await post(gateway, 'refunds', { token: card, amount: 1 }, 'order-5');
  await post(gateway, 'payouts', { ...terms, orderNumber: 'order-6', destination: { card: { pan: card } } });
  const resolution = { code: 'refund_unresolved', resolution: 'check_again', reason: `it was ${card}` };
  await post(gateway, `reviews/pay_${card}/resolve`, resolution);
  for (const path of [card, `?orderNumber=${card}&key=${quickstart.apiKey}`, `?cursor=${card}`])
    await gateway('GET', `/api/v1/payments/${path}`);
}

/** Pays on the page, requests a recurring token, and charges and pays out with it. @returns the service's own token */
async function useRecurringToken(system: System, gateway: CallGateway): Promise<string> {
  const wanted = { ...terms, amount: 100_000, orderNumber: 'recurring', recurring: true };
  const { token, processingUrl } = (await post(gateway, 'payments', wanted)).body;
  await payOnHostedPage(system.customer, { processingUrl, card: recurringCard });
  await untilStatus(gateway, token, 'approved');
  const { recurringToken } = (await gateway('GET', `/api/v1/payments/${token}`)).body.payment;
  await untilDone(() => post(gateway, 'payments', { ...terms, orderNumber: 'again', recurringToken }));
  await system.sandbox('POST', '/sandbox/clock', { advanceMs: 2 * dayMs });
  const payout = { amount: 7, currency: 'EUR', orderNumber: 'to-recurring', destination: { recurringToken } };
  await untilDone(() => post(gateway, 'payouts', payout));
  const serviceToken = await serviceTokenOf(system.sandbox, token);
  return (await system.sandbox('GET', `/api/v1/payments/${serviceToken}`)).body.payment.recurringToken;
}

/** Includes a card payment with a lost answer, because failures are logged. */
async function chargeCards(system: System, gateway: CallGateway, callbackUrl: string): Promise<void> {
  const charged = { pan: chargedCard, expires: '12/2039', holder: 'Ada Lovelace', cvv };
  await system.sandbox('POST', '/sandbox/faults', [{ operation: 'create', fault: 'lost_reply', times: 1 }]);
  for (const orderNumber of ['lost', 'answered']) {
    const wanted = { ...terms, orderNumber, callbackUrl, card: charged };
    const { token } = (await post(gateway, 'payments', wanted)).body;
    await post(gateway, 'payments', { ...wanted, card: { ...charged, cvv: '1' } });
    await post(gateway, 'payments', wanted);
    await untilStatus(gateway, token, 'declined');
  }
}

async function payOut(gateway: CallGateway): Promise<void> {
  const payout = { amount: 7, currency: 'EUR' };
  const destinations = {
    'to-card': { card: { pan: payoutCard, expires: '12/2039' } },
    'to-bank': { bankAccount: { bankName: 'A bank', account: bankAccount } },
  };
  for (const [orderNumber, destination] of Object.entries(destinations)) {
    const { body } = await untilDone(() => post(gateway, 'payouts', { ...payout, orderNumber, destination }));
    await gateway('GET', `/api/v1/payouts/${body.token}/events`);
    // Other terms under the same key are detected, although little of the first ones may be stored.
    await post(gateway, 'payouts', { ...payout, amount: 8, orderNumber, destination });
  }
}

async function readEverything(gateway: CallGateway): Promise<void> {
  const lists = ['payments', 'payouts', 'reviews', 'disputes/list', 'balance?currency=EUR'];
  for (const path of lists) await gateway('GET', `/api/v1/${path}`);
  for (const { token } of (await gateway('GET', '/api/v1/payments?perPage=500')).body.payments)
    for (const path of [`payments/${token}`, `payments/${token}/events`, `webhooks?token=${token}`])
      await gateway('GET', `/api/v1/${path}`);
}

const customer = { email: 'ada.hosted@shop.example', ip: '203.0.113.71' };
/** A creation without an answer: a further attempt follows later, without the customer's data. */
async function loseCustomers(system: System): Promise<void> {
  await system.sandbox('POST', '/sandbox/faults', [{ operation: 'create', fault: 'error_before', times: 3 }]);
  await post(system.gateway, 'payments', { ...terms, orderNumber: 'lost', customer });
}

/** All stored data as text, by kind of stream, and topics by name; read like another process. */
async function storedIn(system: System): Promise<ReadonlyMap<string, string>> {
  const store = await storeOf(system);
  const texts = new Map<string, string[]>();
  const { signal } = new AbortController();
  // An empty prefix is that of every stream.
  for await (const item of store.subscribe({ from: beginning, prefixes: [''], signal })) {
    if (item.kind === 'caught-up') break;
    const [kind = ''] = item.stream.split(item.stream.startsWith('bus-') ? ':' : '-');
    texts.set(kind, [...(texts.get(kind) ?? []), JSON.stringify(item)]);
  }
  await store.close();
  for (const [topic, text] of await textsOnTopics(system)) texts.set(`bus-${topic}`, [text]);
  return new Map([...texts].map(([kind, all]) => [kind, all.join('\n')]));
}

describe('planted secrets', { timeout: 120_000 }, () => {
  let system: System;
  let answers: string[];
  let received: string[];
  let stored: ReadonlyMap<string, string>;
  /** During the run and afterwards. */
  const files: FoundFile[] = [];
  /** Allowed places in the data directory: nowhere else, and in no event. */
  let secrets: Record<string, { text: string; files: string[] }>;

  beforeAll(async () => {
    system = await startSystem({ env: { TOLLGATE_LOG_LEVEL: 'debug' } });
    const shop = await startReceiver();
    const everything = 'payments,refunds,payouts,read,cards,stored-cards,admin';
    const cardKey = await issueKey(system, 'demo', everything);
    const gamesKey = await issueKey(system, 'games', everything);
    const heard = listen(system.gatewayAs(cardKey));
    const { gateway } = heard;
    await eventually(
      async () => expect((await gateway('GET', '/api/v1/payments')).statusCode).toBe(200),
      settled,
    );
    const hosted = (await post(system.gateway, 'payments', { ...terms, orderNumber: 'order-1' })).body;
    await payOnHostedPage(system.customer, { processingUrl: hosted.processingUrl, card });
    await untilStatus(gateway, hosted.token, 'declined');
    for (const each of [heard.gateway, system.gateway]) await misplaceCards(system, each);
    const recurringToken = await useRecurringToken(system, gateway);
    await chargeCards(system, gateway, shop.url);
    await payOut(gateway);
    await system.gatewayAs(gamesKey)('GET', '/api/v1/payments');
    await system.gatewayAs(`${gamesKey}0`)('GET', '/api/v1/payments');
    await readEverything(gateway);
    await eventually(() => expect(shop.received.length).toBeGreaterThan(1), settled);
    const whsec = (team: string) =>
      tollgate<{ secrets: string[] }>(system, 'webhook', 'secret', team, '--environment', 'sandbox');
    const [ofDemo, ofGames] = [await whsec('demo'), await whsec('games')].map(
      ({ secrets: [first] }) => first,
    );
    await eventually(async () => {
      const { callbacks } = await ledgerOf(system.sandbox);
      expect(callbacks.every(({ state }) => state === 'delivered')).toBe(true);
    }, settled);
    await loseCustomers(system);
    files.push(...readFiles(system));
    await system.terminate();
    files.push(...readFiles(system));
    await shop.close();
    stored = await storedIn(system);
    ({ answers } = heard);
    received = shop.received.map(({ text }) => text);
    const { apiKey, paymentServiceKey } = system.quickstart;
    const fileSecret = (name: string) =>
      readFileSync(join(system.dataDir, name), 'utf8').trim().split(':')[1] ?? '';
    const signingKey =
      readFileSync(join(system.dataDir, 'operator-signing.key'), 'utf8').split('\n')[1] ?? '';
    const nowhere: string[] = [];
    secrets = {
      'card on the page': { text: card, files: nowhere },
      'card of a recurring payment': { text: recurringCard, files: nowhere },
      'card of a payment': { text: chargedCard, files: nowhere },
      'card of a payout': { text: payoutCard, files: nowhere },
      // In much data four digits occur by chance, but not as a separate text.
      cvv: { text: `"${cvv}"`, files: nowhere },
      'cvv in a text of JSON': { text: String.raw`\"${cvv}\"`, files: nowhere },
      'bank account': { text: bankAccount, files: nowhere },
      'e-mail address of a customer': { text: customer.email, files: nowhere },
      'network address of a customer': { text: customer.ip, files: nowhere },
      'key of the demo team': { text: apiKey, files: ['quickstart.json'] },
      'secret of that key': { text: apiKey.split('_')[3] ?? '', files: ['quickstart.json'] },
      'key that may send cards': { text: cardKey.split('_')[3] ?? '', files: nowhere },
      'key of another team': { text: gamesKey.split('_')[3] ?? '', files: nowhere },
      'key at the Payment Service': { text: paymentServiceKey, files: sandboxKeyFiles },
      'callback secret': { text: fileSecret('callback-secrets'), files: ['callback-secrets'] },
      'webhook master': { text: fileSecret('webhook-secrets'), files: ['webhook-secrets'] },
      'key that team events are signed with': { text: signingKey, files: ['operator-signing.key'] },
      'data secret': { text: fileSecret('data-secrets'), files: ['data-secrets'] },
      'webhook secret': { text: bare(ofDemo), files: nowhere },
      'webhook secret of another team': { text: bare(ofGames), files: nowhere },
      'recurring token of the service': {
        text: recurringToken,
        // The service's own.
        files: ['payment-service.db'],
      },
    };
  }, 180_000);

  const bare = (whsec = '') => whsec.slice('whsec_'.length);

  it('are too long to match by chance, and have been used', () => {
    for (const [name, { text }] of Object.entries(secrets)) expect(text.length, name).toBeGreaterThan(5);
    expect(system.output()).toContain('called the provider');
    expect(answers.length).toBeGreaterThan(50);
    expect(answers.filter((answer) => answer.includes('card_data_not_accepted')).length).toBeGreaterThan(1);
    expect(received.join()).toContain('declined');
  });

  it('are in no line of the log, at any level', () => {
    const leaked = Object.entries(secrets).filter(([, { text }]) => system.output().includes(text));
    expect(leaked.map(([name]) => name)).toEqual([]);
    // Four digits on their own: no part of a time, a version or an address.
    expect(new RegExp(`(?<![0-9A-Za-z.:-])${cvv}(?![0-9A-Za-z])`).test(system.output())).toBe(false);
  });

  it('are in no answer, and in nothing that a team receives', () => {
    const heard = [...answers, ...received].join('\n');
    const leaked = Object.entries(secrets).filter(([, { text }]) => heard.includes(text));
    expect(leaked.map(([name]) => name)).toEqual([]);
  });

  it('are in no file except the one intended for them', () => {
    const found = Object.entries(secrets).map(([name, { text }]) => [name, filesWith(files, text)]);
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(Object.entries(secrets).map(([name, { files }]) => [name, files])),
    );
  });

  /** Unnecessary copies of each secret. */
  const leaksIn = (isMeant: (kind: string) => boolean) =>
    Object.entries(secrets).flatMap(([name, { text }]) =>
      [...stored]
        .filter(([kind, all]) => isMeant(kind) && all.includes(text))
        .map(([kind]) => `${name} in ${kind}`),
    );

  it('are in no event and on no topic of the gateway', () => {
    // Otherwise nothing would have been searched.
    for (const kind of ['payment', 'payout', 'view_payment', 'recurring', 'bus-gateway.payments.v1'])
      expect([...stored.keys()]).toContain(kind);
    expect(leaksIn((kind) => kind !== receivedCallbacks)).toEqual([]);
  });

  // The service sends its recurring token in callbacks, so these must not be stored unchanged.
  it('are not in the stored callbacks', () => {
    expect(leaksIn((kind) => kind === receivedCallbacks)).toEqual([]);
  });
});

it('only the owner may read what is in the data directory, whichever process made it', async () => {
  const dataDir = newDataDir();
  chmodSync(dataDir, 0o755);
  const system = await startSystem({ dataDir });
  const files = filesOf(dataDir);
  expect(files.map((file) => basename(file))).toEqual(
    expect.arrayContaining(['index.db', 'quickstart.json', ...eventFiles]),
  );
  for (const file of files) expect(statSync(file).mode & 0o077, file).toBe(0);
  await system.terminate();
});
