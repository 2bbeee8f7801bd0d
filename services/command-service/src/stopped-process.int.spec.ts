/**
 * A gateway was suspended during the TLS handshake of an announced call. It woke up long after `sendBy`, and sent the call:
 * meanwhile a person had learned that no payment was made, and the card was
 * charged twice.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, issue, json, startHttpsPeer } from '@tollgate/provider/testing';
import { eventually } from '@tollgate/testing';
import { afterEach, expect, it } from 'vitest';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function startPeer() {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-stopped-'));
  cleanups.push(() => rmSync(directory, { recursive: true }));
  const caFile = join(directory, 'ca.pem');
  const authority = await createAuthority('Ours');
  writeFileSync(caFile, authority.cert);
  const peer = await startHttpsPeer(await issue(authority), json(200, { success: true }));
  cleanups.push(() => peer.close());
  return { peer, caFile };
}

/** Forwards nothing until it is opened, so that a handshake through it stalls. */
async function startRelay(port: number) {
  const held: Socket[] = [];
  let isOpen = false;
  const passOn = (socket: Socket) => {
    const onward = connect(port, '127.0.0.1').on('error', () => {});
    socket.pipe(onward).pipe(socket);
  };
  const relay: Server = createServer((socket) => {
    socket.on('error', () => {});
    if (isOpen) passOn(socket);
    else held.push(socket);
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  cleanups.push(() => relay.close());
  return {
    port: (relay.address() as AddressInfo).port,
    held,
    hold: () => (isOpen = false),
    open: () => {
      isOpen = true;
      held.splice(0).forEach(passOn);
    },
  };
}

function startSender(...argv: string[]): { child: ChildProcess; lines: string[] } {
  const program = join(import.meta.dirname, 'testing', 'sending-process.fixture.ts');
  const child = spawn(process.execPath, [program, ...argv], { stdio: ['pipe', 'pipe', 'inherit'] });
  cleanups.push(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    lines.push(...text.split('\n').filter((line) => line !== ''));
  });
  return { child, lines };
}

it('a process that is stopped while it connects sends nothing when it wakes up, in ten rounds', async () => {
  const { peer, caFile } = await startPeer();
  const relay = await startRelay(peer.port);
  const { child, lines } = startSender(`https://localhost:${relay.port}`, caFile);
  for (let round = 1; round <= 10; round += 1) {
    relay.hold();
    child.stdin?.write('call\n');
    await eventually(() => expect(relay.held).toHaveLength(1));
    child.kill('SIGSTOP');
    const sendBy = Number(lines.at(-1)?.split(' ')[1]);
    relay.open();
    await eventually(() => expect(Date.now()).toBeGreaterThan(sendBy));
    child.kill('SIGCONT');
    await eventually(() => expect(lines).toHaveLength(2 * round));
    expect(lines.at(-1)).toBe('ended not-sent');
  }
  expect(peer.arrivals).toEqual([]);

  // Not stopped, the same process does send.
  child.stdin?.write('call\n');
  await eventually(() => expect(lines).toHaveLength(22));
  expect(peer.arrivals).toHaveLength(1);
}, 60_000);
