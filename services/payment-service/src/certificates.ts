/** The server's certificate and its issuing authority, stored as PEM files. */
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { errorCode, makeFolder, dayMs } from '@tollgate/service-kit';

/** The server's TLS options, and the authority's file for its clients. */
export interface ServerCertificate extends Pems {
  caFile: string;
}

interface Pems {
  key: string;
  /** The server's certificate followed by the authority's. */
  cert: string;
  ca: string;
}

/** A certificate valid for no longer than this is renewed at the next start. */
const renewalMarginMs = 30 * dayMs;
/** Some clients reject longer lifetimes. */
const lifetimeMs = 397 * dayMs;
/** A client's clock may be behind ours. */
const backdatingMs = dayMs;
const algorithm = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const;
const loopback = ['localhost', '127.0.0.1', '::1'] as const;
const fileNames = { ca: 'ca.pem', cert: 'server.pem', key: 'server-key.pem' } as const;

/**
 * Reads the certificate in `dir`. If it is missing, damaged, about to expire, or lacks a name, a new certificate is
 * issued by a new authority, whose key is not kept. The server's key gets mode 0600.
 *
 * @param hostNames public names and addresses of the server, in addition to loopback
 */
export async function ensureServerCertificate(
  dir: string,
  now: number,
  hostNames: readonly string[] = [],
): Promise<ServerCertificate> {
  const names = [...loopback, ...hostNames];
  makeFolder(dir);
  const stored = await readPems(dir);
  const pems = stored !== undefined && isUsable(stored, now, names) ? stored : await makePems(now, names);
  if (pems !== stored)
    for (const file of ['ca', 'key', 'cert'] as const)
      await writeWhole(join(dir, fileNames[file]), pems[file], file === 'key' ? 0o600 : 0o644);
  return { ...pems, cert: `${pems.cert}\n${pems.ca}`, caFile: join(dir, fileNames.ca) };
}

async function readPems(dir: string): Promise<Pems | undefined> {
  const read = (file: keyof Pems) => readFile(join(dir, fileNames[file]), 'utf8');
  try {
    return { ca: await read('ca'), cert: await read('cert'), key: await read('key') };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function isUsable({ ca, cert, key }: Pems, now: number, names: readonly string[]): boolean {
  try {
    const certificate = new X509Certificate(cert);
    return (
      certificate.checkPrivateKey(createPrivateKey(key)) &&
      certificate.verify(new X509Certificate(ca).publicKey) &&
      Date.parse(certificate.validFrom) <= now &&
      Date.parse(certificate.validTo) > now + renewalMarginMs &&
      names.every((name) => isFor(certificate, name))
    );
  } catch {
    return false; // Not PEM: cut short by a crash or edited by hand.
  }
}

const isFor = (certificate: X509Certificate, name: string): boolean =>
  (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;

async function makePems(now: number, names: readonly string[]): Promise<Pems> {
  // Slow to load, and most starts find an existing certificate.
  const { generate } = await import('selfsigned');
  const common = {
    ...algorithm,
    notBeforeDate: new Date(now - backdatingMs),
    notAfterDate: new Date(now - backdatingMs + lifetimeMs),
  };
  const authority = await generate(
    [
      { name: 'commonName', value: 'Payment Service Sandbox CA' },
      { name: 'organizationName', value: 'Payment Service Sandbox' },
    ],
    {
      ...common,
      extensions: [
        { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
        { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
      ],
    },
  );
  const server = await generate([{ name: 'commonName', value: loopback[0] }], {
    ...common,
    ca: { cert: authority.cert, key: authority.private },
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: names.map(toAltName) },
    ],
  });
  return { ca: authority.cert, cert: server.cert, key: server.private };
}

const toAltName = (name: string) =>
  isIP(name) === 0 ? ({ type: 2, value: name } as const) : ({ type: 7, ip: name } as const);

// Renamed into place, so that readers never see a partial file.
async function writeWhole(file: string, text: string, mode: number): Promise<void> {
  const draft = `${file}.new`;
  await writeFile(draft, text, { mode });
  await rename(draft, file);
}
