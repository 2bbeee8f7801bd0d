import { createLog, systemClock } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { expect, it, onTestFinished } from 'vitest';
import { createClusterLink } from './cluster-link.ts';

// The log gave neither the address nor the cause, six times in 25 seconds, among 200 lines of the client.
it(
  'a cluster that does not answer is reported once, with its address and the cause',
  { timeout: 90_000 },
  async () => {
    const lines: { operation?: string; level: number }[] = [];
    const log = createLog('spec', 'debug', { write: (line) => void lines.push(JSON.parse(line)) });
    // No process listens there.
    const connection = { brokers: ['127.0.0.1:1'], clientId: 'spec', log };
    const link = createClusterLink({ connection, clock: systemClock, deadlineMs: 60_000 });
    onTestFinished(() => link.close());
    const reports = () => lines.filter(({ operation }) => operation === 'kafka');
    await eventually(() => expect(reports().length).toBeGreaterThan(1), { timeoutMs: 60_000 });
    expect(reports()[0]).toMatchObject({
      level: 40,
      code: 'bus_unavailable',
      address: '127.0.0.1:1',
      msg: 'Kafka does not answer. Kafka did not confirm: ECONNREFUSED.',
    });
    expect(lines.filter(({ level }) => level > 20)).toHaveLength(1);
  },
);
