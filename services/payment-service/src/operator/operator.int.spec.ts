import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programEnvironment } from '@tollgate/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { Agent, request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Environment } from '../config.ts';
import { createPaymentService, type PaymentService } from '../payment-service.ts';
import { tea } from '../testing/samples.ts';
import { runOperatorCommand } from './command-line.ts';
import { openBesideServices } from './operations.ts';

let dataDir: string;
const closing: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'payment-service-operator-'));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await rm(dataDir, { recursive: true, force: true });
});

interface Ended {
  exitCode: number;
  out: string;
  error: string;
}

/** Runs the command line in its own process, like an operator. */
const operateApart = (...argv: string[]) => operateOn(dataDir, ...argv);

function operateOn(folder: string, ...argv: string[]): Promise<Ended> {
  const env = { ...programEnvironment(), TOLLGATE_DATA_DIR: folder };
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      [join(import.meta.dirname, 'main.ts'), ...argv],
      { env },
      (failure, out, error) => resolve({ exitCode: failure === null ? 0 : Number(failure.code), out, error }),
    ),
  );
}

/** The same in this process, because a process start costs more than most commands. */
async function operate(...argv: string[]): Promise<Ended> {
  const ended = { out: '', error: '' };
  const exitCode = await runOperatorCommand(argv, {
    open: () => openBesideServices(dataDir),
    print: (text) => (ended.out += text),
    complain: (text) => (ended.error += text),
  });
  return { exitCode, ...ended };
}

const keyIn = ({ out }: { out: string }) => /sk_\w+/.exec(out)?.[0] ?? '';
const keyIdIn = ({ out }: { out: string }) => /key_\w+/.exec(out)?.[0] ?? '';

async function serve(environment: Environment) {
  const service: PaymentService = createPaymentService({
    config: { environment, host: '127.0.0.1', httpsPort: 0, httpPort: 0, dataDir },
    clock: systemClock,
    ids: systemIds,
    log: silentLog,
  });
  closing.push(() => service.stop());
  const { httpsUrl, caFile } = await service.start();
  const agent = new Agent({ connect: { ca: await readFile(caFile, 'utf8') } });
  closing.push(() => agent.destroy());
  const call = async (key: string, method: 'GET' | 'POST', path: string, body?: object) => {
    const answer = await request(`${httpsUrl}${path}`, {
      method,
      dispatcher: agent,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return { statusCode: answer.statusCode, body: (await answer.body.json()) as Record<string, unknown> };
  };
  const create = (key: string, fields: object = {}) =>
    call(key, 'POST', '/api/v1/payments', { ...tea, ...fields });
  return { service, call, create };
}

const incorrectKey = { statusCode: 401, body: { errors: [{ code: 'incorrect_private_key' }] } };

describe('an operator', () => {
  it('registers a merchant while the service runs; its key is valid at once and stored hashed', async () => {
    const sandbox = await serve('sandbox');
    const registered = await operateApart('register', 'tea-shop');
    expect(registered).toMatchObject({ exitCode: 0, error: '' });
    const key = keyIn(registered);
    expect(key).toMatch(/^sk_sandbox_[0-9a-f]{48}$/);
    expect((await sandbox.create(key)).statusCode).toBe(200);
    for (const file of await readdir(dataDir, { withFileTypes: true })) {
      if (file.isFile()) expect(await readFile(join(dataDir, file.name), 'latin1')).not.toContain(key);
    }
    const again = await operate('register', 'tea-shop');
    expect(again.exitCode).toBe(1);
    expect(again.error).toMatch(/^<name> is "tea-shop", which is registered already.*\.\n$/);
  });

  it('issues a production key only after all three approvals, and lists the missing ones', async () => {
    await operate('register', 'tea-shop');
    const early = await operate('issue-key', 'tea-shop', '--environment', 'production');
    expect([early.exitCode, early.out]).toEqual([1, '']);
    expect(early.error).toMatch(/still missing: compliance, commercial, technical\.\n$/);
    await operate('approve', 'tea-shop', '--commercial');
    await operate('approve', 'tea-shop', '--compliance');
    const later = await operate('issue-key', 'tea-shop', '--environment', 'production');
    expect([later.exitCode, later.error]).toEqual([1, expect.stringMatching(/missing: technical\.\n$/)]);
    expect((await operate('approve', 'tea-shop', '--technical')).out).toMatch(/may have a production key/);
    const granted = await operate('issue-key', 'tea-shop', '--environment', 'production');
    expect([granted.exitCode, keyIn(granted)]).toEqual([
      0,
      expect.stringMatching(/^sk_production_[0-9a-f]{48}$/),
    ]);
    expect((await operate('list')).out).toContain('approved: compliance, commercial, technical');
  });

  it('revokes a key of a running service by any of its names, and no other key', async () => {
    const sandbox = await serve('sandbox');
    const issued = [await operate('register', 'tea-shop')];
    for (let count = 0; count < 2; count += 1)
      issued.push(await operate('issue-key', 'tea-shop', '--environment', 'sandbox'));
    const [byId, byBeginning, whole] = issued.map((result) => ({
      key: keyIn(result),
      keyId: keyIdIn(result),
    }));
    for (const name of [byId!.keyId, byBeginning!.key.slice(0, 17)]) {
      expect((await operate('revoke-key', name)).exitCode).toBe(0);
    }
    expect(await sandbox.create(byId!.key)).toMatchObject(incorrectKey);
    expect(await sandbox.create(byBeginning!.key)).toMatchObject(incorrectKey);
    expect((await sandbox.create(whole!.key)).statusCode).toBe(200);
    const revoked = await operate('revoke-key', whole!.key);
    expect([revoked.exitCode, revoked.out.includes(whole!.keyId)]).toEqual([0, true]);
    expect(await sandbox.create(whole!.key)).toMatchObject(incorrectKey);
    expect(await operate('revoke-key', byId!.keyId)).toMatchObject({ exitCode: 1, out: '' });
    expect((await operate('list')).out.match(/revoked/g)).toHaveLength(3);
  });

  it('gets an error for an unknown or ambiguous key name, without the name being echoed', async () => {
    await operate('register', 'tea-shop');
    await operate('register', 'coffee-shop');
    for (const name of ['sk_sandbox_', 'key_']) {
      const several = await operate('revoke-key', name);
      expect([several.exitCode, several.error]).toEqual([2, expect.stringMatching(/^<key> fits 2 keys: /)]);
    }
    expect((await operate('list')).out).not.toContain('revoked');
    const unknown = await operate('revoke-key', `sk_sandbox_${'f'.repeat(48)}`);
    expect([unknown.exitCode, unknown.error.includes('fff')]).toEqual([2, false]);
  });

  it('gets a one-sentence error if the data folder cannot be used', async () => {
    expect(await operateOn('/dev/null/data', 'list')).toEqual({
      exitCode: 1,
      out: '',
      error: 'TOLLGATE_DATA_DIR is /dev/null/data, a folder that cannot be made (ENOTDIR).\n',
    });
  });

  it('can initialize the folder before, or while, the service starts', async () => {
    const registered = operateApart('register', 'tea-shop');
    const sandbox = await serve('sandbox');
    expect((await sandbox.create(keyIn(await registered))).statusCode).toBe(200);
  });
});

describe('sandbox and production', () => {
  it("run side by side on one folder, share nothing, and refuse each other's keys by name", async () => {
    const [sandbox, production] = [await serve('sandbox'), await serve('production')];
    const sandboxKey = keyIn(await operate('register', 'tea-shop'));
    await operate('approve', 'tea-shop', '--compliance', '--commercial', '--technical');
    const productionKey = keyIn(await operate('issue-key', 'tea-shop', '--environment', 'production'));

    const created = await sandbox.create(sandboxKey);
    const path = `/api/v1/payments/${String(created.body['token'])}`;
    expect((await sandbox.call(sandboxKey, 'GET', path)).statusCode).toBe(200);
    expect(await production.call(productionKey, 'GET', path)).toMatchObject({
      body: { errors: [{ code: 'payment_not_found' }] },
    });
    expect((await production.create(productionKey)).statusCode).toBe(200);
    expect(await production.call(productionKey, 'GET', '/api/v1/payments')).toMatchObject({
      body: { totalCount: 1 },
    });

    expect(await sandbox.create(productionKey)).toMatchObject(incorrectKey);
    const refused = await production.create(sandboxKey);
    expect(refused).toMatchObject(incorrectKey);
    expect(JSON.stringify(refused.body)).toContain(
      'This is a sandbox key, and this is the production environment',
    );
  });

  it('differ in the sandbox controls, which production does not have', async () => {
    const production = await serve('production');
    await operate('register', 'tea-shop');
    await operate('approve', 'tea-shop', '--compliance', '--commercial', '--technical');
    const key = keyIn(await operate('issue-key', 'tea-shop', '--environment', 'production'));
    const token = String((await production.create(key)).body['token']);
    for (const [method, path] of [
      ['GET', '/sandbox/ledger'],
      ['POST', '/sandbox/clock'],
      ['POST', '/sandbox/faults'],
      ['POST', '/sandbox/disputes'],
      ['POST', `/sandbox/payments/${token}/pay`],
      ['POST', `/sandbox/payments/${token}/revise`],
    ] as const) {
      expect(await production.call(key, method, path, method === 'GET' ? undefined : {})).toMatchObject({
        statusCode: 404,
        body: { errors: [{ code: 'path_not_found' }] },
      });
    }
    await expect(production.service.ensureMerchant({ name: 'demo' })).rejects.toMatchObject({
      code: 'sandbox_needed',
    });
  });
});
