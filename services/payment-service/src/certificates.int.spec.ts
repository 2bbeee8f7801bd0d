import { dayMs } from '@tollgate/service-kit';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureServerCertificate } from './certificates.ts';

const start = Date.UTC(2026, 0, 1);

let dir: string;
beforeEach(async () => {
  dir = join(await mkdtemp(join(tmpdir(), 'certificates-')), 'tls');
});
afterEach(() => rm(join(dir, '..'), { recursive: true, force: true }));

const certificateOf = async (file: string) => new X509Certificate(await readFile(join(dir, file)));

describe('the certificates', () => {
  it("are a real authority and a leaf signed by it, for this machine's names", async () => {
    const { caFile, cert, ca } = await ensureServerCertificate(dir, start);
    const [authority, leaf] = [new X509Certificate(ca), new X509Certificate(cert)];
    expect(caFile).toBe(join(dir, 'ca.pem'));
    expect(await readFile(caFile, 'utf8')).toBe(ca);
    expect([authority.ca, leaf.ca]).toEqual([true, false]);
    expect(leaf.verify(authority.publicKey)).toBe(true);
    expect(leaf.verify(leaf.publicKey)).toBe(false);
    expect(leaf.checkHost('localhost')).toBe('localhost');
    expect([leaf.checkIP('127.0.0.1'), leaf.checkIP('::1')]).not.toContain(undefined);
    expect(leaf.checkHost('shop.example')).toBeUndefined();
  });

  it('have keys that only their owner may read', async () => {
    await ensureServerCertificate(dir, start);
    expect((await stat(join(dir, 'server-key.pem'))).mode & 0o777).toBe(0o600);
    // The authority's key is not kept.
    expect((await readdir(dir)).sort()).toEqual(['ca.pem', 'server-key.pem', 'server.pem']);
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
  });

  it('are reused while they are valid for more than thirty days', async () => {
    const first = await ensureServerCertificate(dir, start);
    const lastsUntil = Date.parse((await certificateOf('server.pem')).validTo);
    expect(await ensureServerCertificate(dir, lastsUntil - 31 * dayMs)).toEqual(first);
  });

  it("include the server's public names, and are renewed when a name is added", async () => {
    const first = await ensureServerCertificate(dir, start);
    const second = await ensureServerCertificate(dir, start, ['payment-service', '10.1.2.3']);
    expect(second.cert).not.toBe(first.cert);
    const leaf = new X509Certificate(second.cert);
    for (const name of ['localhost', 'payment-service']) expect(leaf.checkHost(name)).toBe(name);
    for (const address of ['127.0.0.1', '10.1.2.3']) expect(leaf.checkIP(address)).toBe(address);
    expect(await ensureServerCertificate(dir, start, ['payment-service'])).toEqual(second);
  });

  it('are renewed in the last thirty days', async () => {
    const first = await ensureServerCertificate(dir, start);
    const lastsUntil = Date.parse((await certificateOf('server.pem')).validTo);
    const second = await ensureServerCertificate(dir, lastsUntil - 30 * dayMs);
    expect(second.cert).not.toBe(first.cert);
    expect(new X509Certificate(second.cert).verify(new X509Certificate(second.ca).publicKey)).toBe(true);
  });

  it.each(['ca.pem', 'server.pem', 'server-key.pem'])('are renewed when %s is damaged', async (file) => {
    await ensureServerCertificate(dir, start);
    await writeFile(join(dir, file), 'half a fi');
    const { cert, ca } = await ensureServerCertificate(dir, start);
    expect(new X509Certificate(cert).verify(new X509Certificate(ca).publicKey)).toBe(true);
  });
});
