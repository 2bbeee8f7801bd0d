import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { eventually } from '@tollgate/testing';
import { expect, it, onTestFinished } from 'vitest';
import { openHoldingRelay } from './relay.ts';

/** An echo behind a relay, and a connection to it. */
async function start() {
  const server = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const relay = await openHoldingRelay({ host: '127.0.0.1', port });
  const client = connect({ host: '127.0.0.1', port: relay.port });
  client.on('error', () => undefined);
  const heard = { text: '', isOver: false };
  client.on('data', (chunk: Buffer) => (heard.text += chunk.toString()));
  client.on('close', () => (heard.isOver = true));
  onTestFinished(() => {
    client.destroy();
    relay.close();
    server.close();
  });
  return { relay, client, heard };
}

it('holds back what is sent, and lets it through afterwards', async () => {
  const { relay, client, heard } = await start();
  client.write('one');
  await eventually(() => expect(heard.text).toBe('one'));
  relay.hold();
  client.write('two');
  await new Promise((resolve) => setImmediate(resolve));
  expect(heard.text).toBe('one');
  relay.letGo();
  await eventually(() => expect(heard.text).toBe('onetwo'));
});

it('cuts connections', async () => {
  const { relay, client, heard } = await start();
  client.write('one');
  await eventually(() => expect(heard.text).toBe('one'));
  relay.cut();
  await eventually(() => expect(heard.isOver).toBe(true));
});
