/**
 * `npm run bench -- growth`: what a settled payment takes of the embedded store, with a webhook for each change of its status
 * and the embedded bus: after it was paid, and forty days later, when the records of topics and the webhooks were let go of and
 * the payment was inquired for the last time. Counted are the pages of a copy without free ones, by what is in them.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Clock, readConfig, silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { readCount } from '@tollgate/testing/bench';
import { Agent, request } from 'undici';
import { gatewayConfigSchema } from '../src/configuration/config.ts';
import { type Gateway, startGateway } from '../src/composition/gateway.ts';

const card = '4392963203551251';
const atATime = 8;
const laterMs = 40 * 86_400_000;
/** Nothing more comes or goes when nothing has for so long. */
const restMs = 5_000;
const restWithinMs = 300_000;

const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
const storeFile = join(folder, 'events.db');

const say = (name: string, figure: string) => process.stdout.write(`  ${name.padEnd(46)} ${figure}\n`);

function start(clock: Clock): Promise<Gateway> {
  const ports = { GATEWAY_PORT: '0', CALLBACK_PORT: '0' };
  const sandbox = { PAYMENT_SERVICE_HTTPS_PORT: '0', PAYMENT_SERVICE_HTTP_PORT: '0' };
  const env = { TOLLGATE_DATA_DIR: folder, ...ports, ...sandbox };
  const config = readConfig(gatewayConfigSchema, env);
  return startGateway({ config, clock, ids: systemIds, logOf: () => silentLog, env, pid: process.pid });
}

interface Shop {
  url: string;
  /** Webhooks that have come. */
  taken: () => number;
  close: () => void;
}

async function openShop(): Promise<Shop> {
  let taken = 0;
  const server = createServer((incoming, response) => {
    taken += 1;
    incoming.resume();
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}/tollgate`, taken: () => taken, close };
}

async function post(url: string, key: string, body: object, dispatcher?: Agent): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const through = dispatcher === undefined ? {} : { dispatcher };
  const answer = await request(url, { method: 'POST', headers, body: JSON.stringify(body), ...through });
  if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}`);
  return answer.body.json();
}

async function payAll({ quickstart }: Gateway, count: number, callbackUrl: string): Promise<void> {
  if (quickstart === undefined) throw new Error('The gateway has no sandbox.');
  const {
    gatewayUrl,
    apiKey = '',
    paymentServiceUrl,
    paymentServiceKey = '',
    caFile = '',
  } = quickstart.content;
  const dispatcher = new Agent({ connect: { ca: readFileSync(caFile, 'utf8') } });
  const pay = async (number: number) => {
    const order = { product: 'Green tea', amount: 1_250, currency: 'EUR', orderNumber: `order-${number}` };
    const created = await post(`${gatewayUrl}/api/v1/payments`, apiKey, { ...order, callbackUrl });
    const page = new URL((created as { processingUrl: string }).processingUrl);
    const serviceToken = page.pathname.split('/').at(-1) ?? '';
    const control = `${paymentServiceUrl}/sandbox/payments/${serviceToken}/pay`;
    await post(control, paymentServiceKey, { pan: card }, dispatcher);
  };
  const numbers = Array.from({ length: count }, (_, number) => number).values();
  const payTheRest = async () => {
    for (const number of numbers) await pay(number);
  };
  await Promise.all(Array.from({ length: atATime }, payTheRest));
  await dispatcher.close();
}

/** Until no event of a payment or webhook has come or gone for a while. */
async function untilAtRest(): Promise<void> {
  const database = new DatabaseSync(storeFile, { readOnly: true });
  const select = database.prepare(
    `SELECT count(*) AS count, coalesce(sum(revision), 0) AS sum FROM events JOIN streams s ON s.id = stream_id
     WHERE s.name GLOB 'payment-*' OR s.name GLOB 'webhook-*' OR s.name GLOB 'view_*' OR s.name GLOB 'bus-*'`,
  );
  const giveUpAt = performance.now() + restWithinMs;
  let [before, since] = ['', performance.now()];
  while (performance.now() - since < restMs && performance.now() < giveUpAt) {
    const now = JSON.stringify(select.get());
    if (now !== before) [before, since] = [now, performance.now()];
    await systemClock.sleep(250);
  }
  database.close();
}

const kindSql = `CASE
  WHEN s.name GLOB 'bus-*' THEN 'records of ' || substr(s.name, 5, instr(s.name, ':') - 5)
  WHEN s.name GLOB 'view_*' THEN 'views'
  WHEN instr(s.name, '-') > 0 THEN substr(s.name, 1, instr(s.name, '-')) || '…'
  ELSE s.name END`;

interface Part {
  name: string;
  bytes: number;
  rows?: number;
}

function printParts(title: string, parts: readonly Part[], count: number): void {
  process.stdout.write(`  ${title}\n`);
  for (const { name, bytes, rows } of parts)
    if (bytes / count >= 0.5) {
      const events = rows === undefined ? '' : `, ${(rows / count).toFixed(2)} events`;
      say(`  ${name}`, `${Math.round(bytes / count)} bytes${events}`);
    }
}

const bytesSql = 'SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name ORDER BY bytes DESC';
const sumOf = (parts: readonly Part[]) => parts.reduce((sum, { bytes }) => sum + bytes, 0);

/** In the file, where pages are not full that something was let go of in, and in a copy that has only full ones. */
function measure(title: string, count: number): void {
  const copy = join(folder, 'copy.db');
  const source = new DatabaseSync(storeFile, { readOnly: true });
  const used = sumOf(source.prepare(bytesSql).all() as unknown as Part[]);
  source.prepare('VACUUM INTO ?').run(copy);
  source.close();
  say(`${title}: bytes in use for each payment`, String(Math.round(used / count)));
  const database = new DatabaseSync(copy, { readOnly: true });
  const all = (sql: string) => database.prepare(sql).all() as unknown as Part[];
  const pages = all(bytesSql);
  say('in a copy without free space', String(Math.round(sumOf(pages) / count)));
  printParts('by table and index:', pages, count);
  printParts(
    'text of the events:',
    all(`SELECT ${kindSql} AS name, count(*) AS rows, sum(length(CAST(data AS BLOB)) + length(CAST(metadata AS BLOB)) + length(event_id) + length(type)) AS bytes
         FROM events JOIN streams s ON s.id = stream_id GROUP BY 1 ORDER BY bytes DESC`),
    count,
  );
  database.close();
  rmSync(copy);
}

const count = readCount({ usual: 1_000, least: 10 });
const shop = await openShop();
try {
  const gateway = await start(systemClock);
  await payAll(gateway, count, shop.url);
  await untilAtRest();
  await gateway.stop();
  say('webhooks for each payment', (shop.taken() / count).toFixed(2));
  measure('just paid', count);
  const later = await start({ ...systemClock, now: () => systemClock.now() + laterMs });
  await untilAtRest();
  await later.stop();
  measure('forty days later', count);
} finally {
  shop.close();
  rmSync(folder, { recursive: true });
}
