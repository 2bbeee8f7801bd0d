/** Two processes of each service, killed one after the other: the main claim holds for each of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@tollgate/testing';
import { afterAll, expect, it } from 'vitest';
import { serviceNames } from '../src/configuration/service-names.ts';
import { expectAgreement, flowsOf, loseReplies, shortTimes } from './agreement.ts';
import { fund, newLoad, runFlows } from './mixed-load.ts';
import { type System, startSystem, stopEverything } from './system.ts';
import { recordsOf } from './topic.ts';

afterAll(stopEverything);

const instances = 2;
const connections = 16;
/** Number of answers between two kills. */
const answersPerKill = 25;
const settled = { timeoutMs: 120_000 };

interface Listed {
  label: string;
  service: string;
  pid: number;
}

const listed = ({ dataDir }: System): Listed[] =>
  JSON.parse(readFileSync(join(dataDir, 'processes.json'), 'utf8')) as Listed[];

/** Kills the current process of this name. */
function kill(system: System, label: string): void {
  const pid = listed(system).find((each) => each.label === label)?.pid;
  if (pid === undefined) throw new Error(`${label} is not listed`);
  process.kill(pid, 'SIGKILL');
}

it(
  'whichever process is killed, the ledger and the gateway agree, and nothing has happened twice',
  { timeout: 600_000 },
  async () => {
    const system = await startSystem({ env: shortTimes, instances });
    const load = newLoad(() => system);
    await fund(load);
    await loseReplies(system);
    const running = runFlows(flowsOf(load, { refunded: 45, captureOrVoid: 45, payouts: 30 }), connections);
    const victims = serviceNames
      .flatMap((service) => [`${service}-1`, `${service}-2`])
      .map((label) => ({ label, turn: Math.random() }))
      .sort((one, other) => one.turn - other.turn)
      .map(({ label }) => label);
    for (const label of victims) {
      const before = load.answered;
      await eventually(() => expect(load.answered).toBeGreaterThan(before + answersPerKill), settled);
      kill(system, label);
    }
    await running;
    expect(load.contradictions, victims.join(', ')).toEqual([]);
    await eventually(async () => {
      const { statusCode, body } = await system.gateway('GET', '/readyz');
      expect([statusCode, body]).toEqual([200, { ready: true, notReady: [], degraded: [] }]);
    }, settled);
    await eventually(() => expectAgreement(system, load), settled);
    // The publisher has moved between processes, and no record is missing or duplicated.
    const [{ token } = { token: '' }] = load.outcomes.filter(({ flow }) => flow.startsWith('refunded-'));
    const { events } = (await system.gateway('GET', `/api/v1/payments/${token}/events`)).body;
    const records = await recordsOf(system, token, (all) => all.length >= events.length);
    expect(records.map(({ event }) => event.type)).toEqual(events.map(({ type }) => type));
    expect(records.map(({ event }) => event.sequence)).toEqual(records.map((_, index) => index));
    expect(await system.terminate()).toBe(0);
    for (const { pid, label } of listed(system)) expect(isRunning(pid), label).toBe(false);
  },
);

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
