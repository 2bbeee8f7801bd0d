import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { systemIds } from '@tollgate/service-kit';
import { expect, it, onTestFinished } from 'vitest';
import { freePorts } from './free-ports.ts';

/** Linux's range for outgoing connections: one of them may take such a port while its process restarts. */
const ephemeral = () => {
  const [first, last] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').trim().split(/\s+/);
  return { first: Number(first), last: Number(last) };
};

it.runIf(process.platform === 'linux')('are outside the range of outgoing connections', async () => {
  const { first, last } = ephemeral();
  for (const port of await freePorts(20, systemIds))
    expect(port < first || port > last, String(port)).toBe(true);
});

it('are free and distinct', async () => {
  const [taken = 0] = await freePorts(1, systemIds);
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(taken, '127.0.0.1', resolve));
  const fractionOf = (port: number) => (port - 12_000) / 20_000 + 1e-6;
  const given = [taken, 12_345, 12_345, 12_346].map(fractionOf);
  const ports = await freePorts(2, { fraction: () => given.shift() ?? systemIds.fraction() });
  expect(ports).not.toContain(taken);
  expect(new Set(ports).size).toBe(2);
});

it('are refused if none is free', async () => {
  const [taken = 0] = await freePorts(1, systemIds);
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(taken, '127.0.0.1', resolve));
  const fraction = () => (taken - 12_000) / 20_000 + 1e-6;
  await expect(freePorts(1, { fraction })).rejects.toMatchObject({ code: 'no_free_port' });
});

// A process got the configured port of another one that had not begun to listen: occasionally a start failed.
it('are others than those that are promised', async () => {
  const [promised = 0, other = 0] = await freePorts(2, systemIds);
  const given = [promised, other].map((port) => (port - 12_000) / 20_000 + 1e-6);
  const ids = { fraction: () => given.shift() ?? systemIds.fraction() };
  expect(await freePorts(1, ids, [promised])).toEqual([other]);
});
