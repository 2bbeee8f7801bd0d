/** The real service over real sockets and a real database in its own folder. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServicePayment } from '@tollgate/payment-api';
import { silentLog, systemClock, systemIds, type Clock, type Log, type Secret } from '@tollgate/service-kit';
import { Agent, request } from 'undici';
import { type PaymentService, startPaymentService } from '../payment-service.ts';
import type { Registration } from '../keys.ts';
import type { readLedger } from '../ledger.ts';
import { tea } from './samples.ts';

export interface JsonAnswer {
  statusCode: number;
  body: Record<string, unknown>;
  text: string;
}

export interface ErrorEntry {
  code: string;
  kind: string;
  message: string;
  parameter?: string;
}

type LedgerBody = ReturnType<typeof readLedger>;

/** HTTP status, code and parameter of an answer's first error. */
export const refusalOf = (answer: JsonAnswer) => {
  const [first] = (answer.body['errors'] ?? []) as ErrorEntry[];
  return [answer.statusCode, first?.code, first?.parameter];
};

export const errorsOf = (answer: JsonAnswer): ErrorEntry[] => answer.body['errors'] as ErrorEntry[];

export type Harness = Awaited<ReturnType<typeof startHarness>>;

export async function startHarness(options: { dataDir?: string; log?: Log; clock?: Clock } = {}) {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'payment-service-')));
  const config = { host: '127.0.0.1', httpsPort: 0, httpPort: 0, dataDir };
  const { log = silentLog, clock = systemClock } = options;
  let service: PaymentService;
  let addresses: PaymentService['addresses'];
  let agent: Agent;
  let key: Secret | undefined;

  const start = async () => {
    service = await startPaymentService({ config, clock, ids: systemIds, log });
    ({ addresses } = service);
    agent = new Agent({ connections: 32, connect: { ca: await readFile(addresses.caFile, 'utf8') } });
    ({ key } = await service.ensureMerchant({ name: 'demo', ...(key === undefined ? {} : { key }) }));
  };
  const stop = async () => {
    await service.stop();
    await agent.destroy();
  };
  await start();

  const call = async (
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: unknown,
    authorization: string | null = `Bearer ${key?.reveal()}`,
  ): Promise<JsonAnswer> => {
    const answer = await request(`${addresses.httpsUrl}${path}`, {
      method,
      dispatcher: agent,
      headers: {
        ...(authorization === null ? {} : { authorization }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    return { statusCode: answer.statusCode, body: parse(text), text };
  };
  const browse = async (
    path: string,
    form?: Record<string, string>,
    headers: Record<string, string> = {},
  ) => {
    const answer = await request(`${addresses.httpsUrl}${path}`, {
      method: form === undefined ? 'GET' : 'POST',
      dispatcher: agent,
      ...(form === undefined
        ? { headers }
        : {
            body: new URLSearchParams(form).toString(),
            headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
          }),
    });
    const location = answer.headers['location'];
    return {
      statusCode: answer.statusCode,
      headers: answer.headers,
      location,
      text: await answer.body.text(),
    };
  };
  const create = async (fields: Record<string, unknown> = {}): Promise<string> => {
    const { statusCode, body, text } = await call('POST', '/api/v1/payments', { ...tea, ...fields });
    if (statusCode !== 200) throw new Error(`The creation was answered ${statusCode}: ${text}`);
    return String(body['token']);
  };
  const retrieve = async (token: string): Promise<ServicePayment> =>
    (await call('GET', `/api/v1/payments/${token}`)).body['payment'] as ServicePayment;

  return {
    dataDir,
    addresses: () => addresses,
    key: () => key?.reveal() ?? '',
    agent: () => agent,
    call,
    browse,
    create,
    retrieve,
    pay: (token: string, how: object) => call('POST', `/sandbox/payments/${token}/pay`, how),
    /** Creates an approved payment, and resolves with its token. */
    createApproved: async (fields: Record<string, unknown> = {}): Promise<string> => {
      const token = await create(fields);
      await call('POST', `/sandbox/payments/${token}/pay`, { outcome: 'approved' });
      return token;
    },
    balance: async (currency = 'EUR'): Promise<{ available: number; hold: number }> => {
      const { body } = await call('GET', `/api/v1/balance?currency=${currency}`);
      const { available, hold } = body['wallet'] as { available: number; hold: number };
      return { available, hold };
    },
    /** Adds faults for the harness's merchant. */
    setFaults: (...faults: object[]) => call('POST', '/sandbox/faults', faults),
    advanceClock: (advanceMs: number) => call('POST', '/sandbox/clock', { advanceMs }),
    ledger: async (orderNumber?: string): Promise<LedgerBody> => {
      const query = orderNumber === undefined ? '' : `?orderNumber=${encodeURIComponent(orderNumber)}`;
      return (await call('GET', `/sandbox/ledger${query}`)).body as unknown as LedgerBody;
    },
    addMerchant: async (registration: Registration): Promise<string> =>
      (await service.ensureMerchant(registration)).key.reveal(),
    stop,
    restart: async () => {
      await stop();
      await start();
    },
    /** Stops the service and removes its folder. */
    remove: async () => {
      await stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {}; // A test of answers that are not JSON reads the text.
  }
}
