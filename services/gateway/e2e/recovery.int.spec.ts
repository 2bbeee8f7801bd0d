/**
 * Tries to get back what must not be kept, out of everything that is on the disk but the secrets: by searching, in every encoding,
 * and by guessing, as somebody would who has the event store, knows most of a request, and tries out the rest. From
 * plain hashes, an account number took a second.
 */
import { createHash, createHmac } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createFingerprints } from '@tollgate/command-service';
import { beginning } from '@tollgate/event-store';
import { parseDataSecrets } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventFiles } from './arrangement.ts';
import { issueKey, tollgate, tollgateExit } from './commands.ts';
import { type System, startSystem, stopEverything } from './system.ts';
import { storeOf, textsOnTopics } from './topic.ts';

afterAll(stopEverything);

const terms = { product: 'Tea', amount: 1250, currency: 'EUR' };
const customers = {
  hosted: { email: 'ada.hosted@shop.example', ip: '203.0.113.71' },
  lost: { email: 'ada.lost@shop.example', ip: '203.0.113.72' },
  forgotten: { email: 'ada.forgotten@shop.example', ip: '203.0.113.73' },
  charged: { email: 'ada.charged@shop.example', ip: '203.0.113.74' },
};
const card = { pan: '5555555555554444', expires: '07/2031', holder: 'Ada Byron Lovelace', cvv: '7391' };
const bankAccount = { bankName: 'A bank', account: 'DE89370400440532013000' };
const payoutTerms = { amount: 7, currency: 'EUR', orderNumber: 'to-bank' };
const secretFiles = ['data-secrets', 'callback-secrets', 'webhook-secrets', 'quickstart.json'];

let system: System;
/** Bytes of every file that is not a secret or the Payment Service's own. */
let disk: Buffer[];
/** Every text in the event store, of data, metadata and topics. */
let texts: string[];
let sealedBefore: string[];

const post = (path: string, body: object) => system.gateway('POST', `/api/v1/${path}`, { body });

const filesOnDisk = (): Buffer[] =>
  readdirSync(system.dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/payment-service|signing|\.pem$/.test(entry.name))
    .filter(({ name }) => !secretFiles.includes(name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));

const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value, ...textsIn(parsed(value))];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

function parsed(text: string): unknown {
  if (!/^[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function storedTexts(): Promise<string[]> {
  const store = await storeOf(system);
  const found: string[] = [];
  const { signal } = new AbortController();
  for await (const item of store.subscribe({ from: beginning, prefixes: [''], signal })) {
    if (item.kind === 'caught-up') break;
    found.push(...textsIn([item.data, item.metadata, item.stream]));
  }
  await store.close();
  for (const [, text] of await textsOnTopics(system)) found.push(text);
  return found;
}

beforeAll(async () => {
  // Three attempts each: the customer's data are kept for a further one until the end.
  system = await startSystem({
    env: { TOLLGATE_LOG_LEVEL: 'debug', PROVIDER_QUIET_MS: '600000' },
  });
  const cardGateway = system.gatewayAs(
    await issueKey(system, 'demo', 'payments,payouts,read,cards,stored-cards'),
  );
  await eventually(async () => {
    const body = { ...terms, orderNumber: 'charged', card, customer: customers.charged };
    expect((await cardGateway('POST', '/api/v1/payments', { body })).statusCode).toBe(200);
  });
  await post('payments', { ...terms, orderNumber: 'hosted', customer: customers.hosted });
  const lose = { operation: 'create', fault: 'error_before', times: 6 };
  await system.sandbox('POST', '/sandbox/faults', [lose]);
  await post('payments', { ...terms, orderNumber: 'lost', customer: customers.lost });
  const { body: forgotten } = await post('payments', {
    ...{ ...terms, orderNumber: 'forgotten', customer: customers.forgotten },
  });
  // What may be paid out, as soon as it is counted.
  const approved = { ...terms, orderNumber: 'approved', card: { ...card, pan: '4392963203551251' } };
  await cardGateway('POST', '/api/v1/payments', { body: approved });
  await eventually(async () => {
    const body = { ...payoutTerms, destination: { bankAccount } };
    expect((await cardGateway('POST', '/api/v1/payouts', { body })).body.token).toMatch(/^po_/);
  });
  const sealedIn = (all: string[]) => all.filter((text) => /^v1\.\w+\./.test(text));
  sealedBefore = sealedIn(await storedTexts());
  expect((await tollgateExit(system, 'payment', 'forget', forgotten.token)).exitCode).toBe(1);
  expect(await tollgate(system, 'payment', 'forget', forgotten.token, '--yes')).toMatchObject({
    wasKept: true,
  });
  await post('payments', { ...terms, orderNumber: 'afterwards' });
  const { body: shown } = await system.gateway('GET', `/api/v1/payments/${forgotten.token}`);
  expect(JSON.stringify(shown)).not.toContain('customer');
  const history = await system.gateway('GET', `/api/v1/payments/${forgotten.token}/events`);
  const list = await system.gateway('GET', '/api/v1/payments');
  expect([history.statusCode, list.statusCode]).toEqual([200, 200]);
  disk = filesOnDisk();
  await system.kill();
  disk.push(...filesOnDisk(), Buffer.from(system.output()));
  texts = await storedTexts();
}, 120_000);

const encodings = (text: string): string[] => encoded(text).filter((each) => each.length >= 8);

const encoded = (text: string): string[] => [
  text,
  Buffer.from(text).toString('hex'),
  // Without the ends, which depend on what stands before and behind.
  ...[0, 1, 2].flatMap((shift) => {
    const base64 = Buffer.from(' '.repeat(shift) + text).toString('base64');
    return [base64.slice(4, -4), base64.slice(4, -4).replaceAll('+', '-').replaceAll('/', '_')];
  }),
  encodeURIComponent(text),
];

describe('on the disk, while it runs and after it was killed', () => {
  it.each([
    ...Object.values(customers).flatMap(({ email, ip }) => [email, ip]),
    ...[card.pan, card.holder, `"${card.expires}"`, bankAccount.account],
  ])('%s is in no file, in no encoding', (text) => {
    for (const each of encodings(text))
      expect([each, disk.some((bytes) => bytes.includes(each))]).toEqual([each, false]);
  });

  it('what was forgotten is not there even encrypted, and what is needed is', () => {
    const left = sealedBefore.filter((sealed) => disk.some((bytes) => bytes.includes(sealed)));
    // EventStoreDB has files of its own, and lets go of it with its next scavenge.
    expect([sealedBefore.length, left.length]).toEqual([2, eventFiles.length]);
  });
});

/** As an attacker with the store and the source would compute them. */
const hashesOf = (text: string, keys: readonly string[]): string[] => {
  const algorithms = ['sha256', 'sha1', 'md5', 'sha512'];
  const digests = [
    ...algorithms.map((name) => createHash(name).update(text).digest()),
    ...keys.map((key) => createHmac('sha256', key).update(text).digest()),
  ];
  return digests.flatMap((digest) => [digest.toString('hex'), digest.toString('base64url')]);
};

/** Which of the candidates leads to something that is stored. */
function guessed(
  candidates: readonly unknown[],
  keys: readonly string[] = ['', 'k1', 'tollgate', 'fingerprint'],
) {
  const stored = new Set(texts.flatMap((text) => [text, ...text.split('.')]));
  return candidates.filter((candidate) => {
    const text = typeof candidate === 'string' ? candidate : canonical(candidate);
    return hashesOf(text, keys).some((hash) => stored.has(hash));
  });
}

/** The form that fingerprints are made over. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`).join(',')}}`;
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);
/** The last six digits are tried; bank and ending are known. */
const accounts = upTo(1_000).map((number) => `DE8937040044053201${String(number).padStart(4, '0')}`);
const payoutBodies = [...accounts, bankAccount.account].map((account) => ({
  ...payoutTerms,
  destination: { bankAccount: { ...bankAccount, account } },
}));
const expiries = upTo(12).flatMap((month) =>
  upTo(15).map((year) => `${String(month + 1).padStart(2, '0')}/${2026 + year}`),
);
const emails = Object.values(customers).map(({ email }) => email);
const ips = upTo(256).map((last) => `203.0.113.${last}`);

describe('by guessing', () => {
  it('no account number is found', () => {
    expect(guessed([...accounts, bankAccount.account])).toEqual([]);
    expect(guessed(payoutBodies)).toEqual([]);
  });

  it('no e-mail address, network address, expiry or holder is found', () => {
    expect(guessed([...emails, ...ips, ...expiries, card.holder, card.pan])).toEqual([]);
    const digits = [`${card.pan.slice(0, 6)}${card.pan.slice(-4)}`, '555555******4444'];
    const charges = expiries.flatMap((expires) =>
      digits.map((each) => ({
        ...{ ...terms, orderNumber: 'charged', customer: customers.charged },
        card: { digits: each, expires, holder: card.holder },
      })),
    );
    const pages = Object.entries(customers).map(([orderNumber, customer]) => ({
      ...terms,
      orderNumber,
      customer,
    }));
    expect(guessed([...charges, ...pages])).toEqual([]);
  });

  // Or the guesses above would prove nothing.
  it('only who has the secret finds the account again, and nobody the customer', () => {
    const secrets = parseDataSecrets(readFileSync(join(system.dataDir, 'data-secrets'), 'utf8').trim());
    const fingerprintsOf = createFingerprints(secrets);
    const stored = new Set(texts);
    const found = payoutBodies.filter((body) => stored.has(fingerprintsOf(body).fingerprint));
    expect(found.map(({ destination }) => destination.bankAccount.account)).toContain(bankAccount.account);
    const pages = Object.entries(customers).map(([orderNumber, customer]) => ({
      ...terms,
      orderNumber,
      customer,
    }));
    expect(pages.filter((body) => stored.has(fingerprintsOf(body).fingerprint))).toEqual([]);
  });
});
