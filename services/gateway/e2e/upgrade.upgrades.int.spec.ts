/**
 * Rolling upgrades under load, forward, back and forward again: from the last release to this one, and from this one to
 * a release that writes events this one cannot read.
 */
import { eventually } from '@tollgate/testing';
import { afterAll, expect, it } from 'vitest';
import { SideBySide, releaseFolder } from './side-by-side.ts';
import { type CallGateway, stopEverything } from './system.ts';
import { schemaVersion } from '@tollgate/event-store';

afterAll(stopEverything);

/** Undefined before the first release with a readable format; `npm run test:upgrades` reports so. */
const last = process.env['LAST_RELEASE_FOLDER'];
const next = releaseFolder('NEXT_RELEASE_FOLDER');
const ours = undefined;

const fromLastRelease = it.skipIf(last === undefined);
fromLastRelease(
  'from the last release to this one, back, and forward again',
  { timeout: 600_000 },
  async () => {
    const side = await SideBySide.begin(last);
    await side.under();
    await side.under(() => side.start('second', ours));
    await side.under(() => side.stop('first'));
    await side.under(() => side.start('first', last));
    await side.under(() => side.stop('second'));
    await side.under(() => side.start('second', ours));
    await side.under(() => side.stop('first'));
    await side.expectAllAgree('second');
    await side.end();
  },
);

it(
  'to a release that adds events: back until the upgrade is finished, then forward permanently',
  { timeout: 900_000 },
  async () => {
    const side = await SideBySide.begin(ours);
    const added = () => side.countOf('PaymentNoted');
    await side.under(() => side.start('second', next));
    await side.under(() => side.stop('first'));
    // Back: no event was written that this release cannot read.
    await side.under(() => side.start('first', ours));
    await side.under(() => side.stop('second'));
    await side.expectAllAgree('first');
    expect(await added()).toBe(0);
    // Forward: new formats are not written until the upgrade is finished, which is impossible while a process of this
    // release runs.
    await side.under(() => side.start('second', next));
    expect(await side.finishUpgrade('second')).toMatchObject({ exitCode: 1 });
    expect(await added()).toBe(0);
    await side.under(() => side.stop('first'));
    await eventually(async () => expect(await side.finishUpgrade('second')).toMatchObject({ exitCode: 0 }));
    await eventually(async () => {
      await side.under();
      expect(await added()).toBeGreaterThan(0);
    });
    const refused = await side.startRefused('first', ours);
    expect(refused).toMatchObject({ exitCode: 1 });
    expect(refused.output).toMatch(
      new RegExp(
        `^The event store is written in schema version ${schemaVersion + 1}, and release \\S+ reads up to ${schemaVersion}\\. Use release 99\\S+ or a later one\\.$`,
        'm',
      ),
    );
    await side.expectAllAgree('second');
    await side.end();
  },
);

/** A gateway's totals, from its own index. */
async function totalsOf(call: CallGateway): Promise<unknown> {
  const { statusCode, body } = await call('GET', '/api/v1/totals');
  expect(statusCode).toBe(200);
  return body;
}

it(
  'what a release cannot read is named, answered 503, and heals with the release that can',
  { timeout: 600_000 },
  async () => {
    const side = await SideBySide.begin(next);
    await side.under();
    await side.stop('first');
    await side.forceSchemaVersion(schemaVersion);
    await side.start('second', ours);
    const second = side.callerOf('second');
    const [token = ''] = await side.tokensWith('PaymentNoted');
    await eventually(
      async () => {
        const { ready, degraded } = (await second('GET', '/readyz')).body;
        expect(ready).toBe(true);
        expect(degraded).toContain('projector');
        expect(degraded.join('\n')).toMatch(/projector: event \d+ of payment-\S+: event_of_newer_version/);
      },
      { timeoutMs: 60_000 },
    );
    const newer = { statusCode: 503, body: { errors: [{ code: 'event_of_newer_version' }] } };
    expect(await second('GET', `/api/v1/payments/${token}/events`)).toMatchObject(newer);
    const headers = { 'idempotency-key': 'newer' };
    expect(await second('POST', '/api/v1/refunds', { body: { token, amount: 1 }, headers })).toMatchObject(
      newer,
    );
    // Other requests are served.
    expect(await second('GET', '/api/v1/payments')).toMatchObject({ statusCode: 200 });
    // Without load: a payout is refused while the payments behind its balance cannot be read.
    await side.start('third', next);
    await side.stop('second');
    await side.under();
    await side.expectAllAgree('third');
    await side.start('fourth', next);
    await eventually(async () =>
      expect(await totalsOf(side.callerOf('fourth'))).toEqual(await totalsOf(side.callerOf('third'))),
    );
    await side.end();
  },
);
