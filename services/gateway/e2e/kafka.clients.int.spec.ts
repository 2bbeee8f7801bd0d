/** `npm run test:clients`: the payments topic of a real Kafka, as clients that are not ours read it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { issueKey } from './commands.ts';
import { type CallGateway, startSystem, stopEverything } from './system.ts';

const topic = 'gateway.payments.v1';
const settled = { timeoutMs: 30_000 };
const terms = { expires: '12/2039', holder: 'Ada Lovelace', cvv: '123' };
const approved = { ...terms, pan: '4392963203551251' };
const declined = { ...terms, pan: '4730198364688516' };

interface Feed {
  events: { topic: string; type: string; record: { event: { id: string; sequence: number } } }[];
  cursor: string;
  isAtEnd: boolean;
}
interface Read {
  partition: number;
  offset: number;
  key: string;
  headers: Record<string, string>;
  event: { id: string; type: string; sequence: number; time: string; correlationId: string };
}

const setting = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set; npm run test:clients sets it.`);
  return value;
};

let gateway: CallGateway;
/** What the event feed has of the payments that this spec made, by their tokens. */
let made: Map<string, Feed['events'][number]['record']['event'][]>;

beforeAll(async () => {
  const system = await startSystem({ env: { KAFKA_BROKERS: setting('KAFKA_BROKERS') } });
  gateway = system.gatewayAs(await issueKey(system, 'demo', 'payments,cards,stored-cards,refunds,read'));
  await eventually(
    async () => expect((await gateway('GET', '/api/v1/payments')).statusCode).toBe(200),
    settled,
  );
  const tokens = [await pay('paid', approved), await pay('declined', declined), await pay('open')];
  await refundOften(tokens[0] ?? '');
  made = await eventually(async () => {
    const byToken = await eventsByToken(tokens);
    for (const [token, events] of byToken) expect(events, token).toHaveLength(await historyLength(token));
    return byToken;
  }, settled);
}, 120_000);
afterAll(stopEverything);

const keyOf = (record: object): string => (record as { payment: { token: string } }).payment.token;

async function pay(orderNumber: string, card?: object): Promise<string> {
  const body = { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber, ...(card && { card }) };
  const { token } = (await gateway('POST', '/api/v1/payments', { body })).body;
  expect(token).toMatch(/^pay_/);
  return token;
}

const historyLength = async (token: string): Promise<number> =>
  (await gateway('GET', `/api/v1/payments/${token}/events`)).body.events.length;

/** As the event feed has them, in its order. */
async function eventsByToken(tokens: readonly string[]): Promise<typeof made> {
  const byToken: typeof made = new Map(tokens.map((token) => [token, []]));
  for (const { topic: on, record } of await feed())
    if (on === topic) byToken.get(keyOf(record))?.push(record.event);
  return byToken;
}

/** Until its events have numbers of two digits. */
async function refundOften(token: string): Promise<void> {
  for (let number = 1; number <= 5; number += 1)
    await eventually(async () => {
      const headers = { 'idempotency-key': `refund-${number}` };
      const { statusCode } = await gateway('POST', '/api/v1/refunds', {
        body: { token, amount: 10 },
        headers,
      });
      expect(statusCode).toBe(200);
    }, settled);
}

/** The event feed to its end, which begins to gather when somebody asks first. */
async function feed(): Promise<Feed['events']> {
  const events: Feed['events'] = [];
  for (let after = '', isAtEnd = false; !isAtEnd;) {
    const query = after === '' ? '' : `&cursor=${encodeURIComponent(after)}`;
    const page = (await gateway('GET', `/api/v1/events?perPage=100${query}`)).body as unknown as Feed;
    events.push(...page.events);
    ({ cursor: after, isAtEnd } = page);
  }
  return events;
}

const ours = (records: readonly Read[]): Read[] => records.filter(({ key }) => made.has(key));
const ofKey = (records: readonly Read[], token: string) => records.filter(({ key }) => key === token);

async function readWithPython(group: string): Promise<{ records: Read[]; again: number }> {
  const program = join(import.meta.dirname, '..', '..', '..', 'infra', 'clients', 'kafka_client.py');
  const env = { ...process.env, PYTHONPATH: setting('CLIENTS_IN_PYTHON'), PYTHONDONTWRITEBYTECODE: '1' };
  const args = [program, setting('KAFKA_BROKERS'), topic, group];
  const { stdout } = await promisify(execFile)('python3', args, { env, maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout) as { records: Read[]; again: number };
}

it("Confluent's Python client: a group reads each event of each payment once, in order, and goes on behind it", async () => {
  const { records, again } = await eventually(async () => {
    const read = await readWithPython(`clients-${systemIds.hex(6)}`);
    expect(ours(read.records)).toHaveLength([...made.values()].flat().length);
    return read;
  }, settled);
  expect(again).toBe(0);
  for (const [token, events] of made) {
    const found = ofKey(records, token);
    expect(events.length, token).toBeGreaterThan(1);
    expect(found.map(({ event }) => event.id)).toEqual(events.map(({ id }) => id));
    expect(new Set(found.map(({ partition }) => partition)).size).toBe(1);
    const sequences = found.map(({ headers }) => headers['ce_sequence'] ?? '');
    expect(sequences.map(Number)).toEqual(events.map((_, at) => at));
    // As a consumer compares them that knows only the CloudEvents extension: as text.
    expect(sequences.toSorted()).toEqual(sequences);
    for (const { headers, event } of found)
      expect(headers).toMatchObject({
        ...{ ce_specversion: '1.0', ce_source: '/tollgate/payments', 'content-type': 'application/json' },
        ...{ ce_id: event.id, ce_subject: token, ce_time: event.time },
        ce_type: expect.stringMatching(/^tollgate\.payment\.[a-z-]+\.v1$/),
      });
  }
  const [refunded = []] = made.values();
  expect(refunded.length).toBeGreaterThan(10);
});

it('kcat: sees the same records', async () => {
  const args = ['-C', '-b', setting('KAFKA_BROKERS'), '-t', topic, '-o', 'beginning', '-e', '-q', '-J'];
  const { stdout } = await promisify(execFile)(setting('KCAT'), args, { maxBuffer: 64 * 1024 * 1024 });
  const records = stdout.split('\n').filter((line) => line !== '');
  const seen = records.map((line) => JSON.parse(line) as { key: string; headers: string[] });
  for (const [token, events] of made)
    expect(
      seen.filter(({ key }) => key === token).map(({ headers }) => headers[headers.indexOf('ce_id') + 1]),
    ).toEqual(events.map(({ id }) => id));
});
