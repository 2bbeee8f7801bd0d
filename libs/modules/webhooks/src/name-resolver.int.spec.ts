import { createSocket } from 'node:dgram';
import { expect, it, onTestFinished } from 'vitest';
import { failureReasonOf } from './http-client.ts';
import { createResolve } from './address-guard.ts';

const addressBytes: Record<string, readonly number[]> = {
  'both.example A': [93, 184, 216, 34],
  'both.example AAAA': [0x26, 0x06, 0x47, 0, ...Array<number>(11).fill(0), 0x11],
  'four.example A': [1, 2, 3, 4],
};

/** A minimal name server (RFC 1035) that knows these names, and answers NXDOMAIN for all others. */
async function startNameServer(): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (question, { port, address }) => {
    const end = question.indexOf(0, 12) + 5;
    const labels: string[] = [];
    for (let at = 12; question[at] !== 0; at += 1 + question[at]!)
      labels.push(question.subarray(at + 1, at + 1 + question[at]!).toString());
    const name = labels.join('.');
    const isKnown = Object.keys(addressBytes).some((known) => known.startsWith(`${name} `));
    const data = addressBytes[`${name} ${question[end - 3] === 28 ? 'AAAA' : 'A'}`];
    const header = [
      question[0]!,
      question[1]!,
      0x81,
      isKnown ? 0x80 : 0x83,
      0,
      1,
      0,
      data ? 1 : 0,
      0,
      0,
      0,
      0,
    ];
    const type = question.subarray(end - 4, end);
    const record = data === undefined ? [] : [0xc0, 12, ...type, 0, 0, 0, 60, 0, data.length, ...data];
    socket.send(Buffer.from([...header, ...question.subarray(12, end), ...record]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  onTestFinished(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

it('returns all addresses of a name, IPv4 and IPv6 or the one kind that exists', async () => {
  const resolve = createResolve([await startNameServer()]);
  expect(await resolve('both.example')).toEqual([
    { address: '93.184.216.34', family: 4 },
    { address: '2606:4700::11', family: 6 },
  ]);
  expect(await resolve('four.example')).toEqual([{ address: '1.2.3.4', family: 4 }]);
});

it('rejects for a name that does not exist, with the reason name_not_found', async () => {
  const resolve = createResolve([await startNameServer()]);
  const error: unknown = await resolve('nowhere.example').catch((reason: unknown) => reason);
  expect(failureReasonOf(error)).toBe('name_not_found');
});

it('resolves localhost to this machine without a query', async () => {
  const addresses = await createResolve(['127.0.0.1:1'])('localhost');
  expect(addresses.map(({ address }) => address)).toEqual(['127.0.0.1', '::1']);
});
