/** A certificate authority of our own and the server certificate that it signs, kept as PEM files. */
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { errorCode, makeFolder, dayMs } from '@tollgate/service-kit';

/** What a server needs, and the file that its clients trust. */
export interface ServerCertificate {
  key: string;
  /** The server's certificate followed by the authority's. */
  cert: string;
  ca: string;
  caFile: string;
}

interface Pair {
  cert: string;
  key: string;
}

/** A pair that lasts no longer than this is renewed at the next start. */
const renewalMarginMs = 30 * dayMs;
const authorityLifetimeMs = 3_650 * dayMs;
/** Longer lifetimes are refused by some clients. */
const serverLifetimeMs = 397 * dayMs;
/** A client's clock may be behind ours. */
const backdatingMs = dayMs;
const algorithm = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const;
const loopback = ['localhost', '127.0.0.1', '::1'] as const;

/**
 * Reads the pairs in `dir`, or makes what is missing, damaged, close to its end or not for all names; keys get mode 0600.
 *
 * @param hostNames names and addresses that the server is reached by, beside those of loopback
 */
export async function ensureServerCertificate(
  dir: string,
  now: number,
  hostNames: readonly string[] = [],
): Promise<ServerCertificate> {
  const names = [...loopback, ...hostNames];
  makeFolder(dir);
  const caFile = join(dir, 'ca.pem');
  const authority = await ensurePair(
    { cert: caFile, key: join(dir, 'ca-key.pem') },
    (certificate) => isCurrent(certificate, now) && certificate.ca,
    () => createAuthority(now),
  );
  const server = await ensurePair(
    { cert: join(dir, 'server.pem'), key: join(dir, 'server-key.pem') },
    (certificate) =>
      isCurrent(certificate, now) && isOurs(certificate, authority) && isFor(certificate, names),
    () => createServerPair(authority, now, names),
  );
  return { key: server.key, cert: `${server.cert}\n${authority.cert}`, ca: authority.cert, caFile };
}

async function ensurePair(
  files: Pair,
  isUsable: (certificate: X509Certificate) => boolean,
  create: () => Promise<Pair>,
): Promise<Pair> {
  const stored = await readPair(files);
  if (stored !== undefined && isSound(stored, isUsable)) return stored;
  const pair = await create();
  await writePrivately(files.key, pair.key, 0o600);
  await writePrivately(files.cert, pair.cert, 0o644);
  return pair;
}

async function readPair(files: Pair): Promise<Pair | undefined> {
  try {
    const [cert, key] = await Promise.all([readFile(files.cert, 'utf8'), readFile(files.key, 'utf8')]);
    return { cert, key };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function isSound(pair: Pair, isUsable: (certificate: X509Certificate) => boolean): boolean {
  try {
    const certificate = new X509Certificate(pair.cert);
    return certificate.checkPrivateKey(createPrivateKey(pair.key)) && isUsable(certificate);
  } catch {
    return false; // Not PEM: cut short by a crash or edited by hand. It is renewed.
  }
}

const isCurrent = (certificate: X509Certificate, now: number): boolean =>
  Date.parse(certificate.validFrom) <= now && Date.parse(certificate.validTo) > now + renewalMarginMs;

const isOurs = (certificate: X509Certificate, authority: Pair): boolean =>
  certificate.verify(new X509Certificate(authority.cert).publicKey);

const isFor = (certificate: X509Certificate, names: readonly string[]): boolean =>
  names.every(
    (name) => (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined,
  );

// Takes long to load, and most starts find what an earlier one has made.
const loadGenerator = async () => (await import('selfsigned')).generate;

async function createAuthority(now: number): Promise<Pair> {
  const generate = await loadGenerator();
  const name = [
    { name: 'commonName', value: 'Payment Service Sandbox CA' },
    { name: 'organizationName', value: 'Payment Service Sandbox' },
  ];
  const made = await generate(name, {
    ...algorithm,
    ...validity(now, authorityLifetimeMs),
    extensions: [
      { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return { cert: made.cert, key: made.private };
}

async function createServerPair(authority: Pair, now: number, names: readonly string[]): Promise<Pair> {
  const generate = await loadGenerator();
  const made = await generate([{ name: 'commonName', value: loopback[0] }], {
    ...algorithm,
    ...validity(now, serverLifetimeMs),
    ca: authority,
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: names.map(toAltName) },
    ],
  });
  return { cert: made.cert, key: made.private };
}

const toAltName = (name: string) =>
  isIP(name) === 0 ? ({ type: 2, value: name } as const) : ({ type: 7, ip: name } as const);

const validity = (now: number, lifetimeMs: number) => ({
  notBeforeDate: new Date(now - backdatingMs),
  notAfterDate: new Date(now - backdatingMs + lifetimeMs),
});

// Written beside and renamed, so that no reader ever finds half a file.
async function writePrivately(file: string, text: string, mode: number): Promise<void> {
  const draft = `${file}.new`;
  await writeFile(draft, text, { mode });
  await rename(draft, file);
}
