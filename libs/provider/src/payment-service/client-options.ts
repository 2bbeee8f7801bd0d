/** Validates the options of the Payment Service client. */
import { X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import type { Clock } from '@tollgate/service-kit';
import type { Dispatcher } from 'undici';

/** The transport. It calls `onRequestStart` directly before the first byte leaves. */
export type Connections = Pick<Dispatcher, 'dispatch' | 'destroy'>;

export interface PaymentServiceClientOptions {
  /** URL of the service, `https` only (section 5); its path precedes `/api/v1`. */
  baseUrl: string;
  /** The merchant's private key, read again for each call. */
  privateKey: { reveal(): string };
  /** PEM certificates that are trusted next to the usual ones. */
  ca?: string;
  /** Milliseconds for a whole operation: waiting for a connection, connecting, sending, reading the answer. Default 10,000. */
  deadlineMs?: number;
  /** Calls on the wire at once; further ones wait within their deadline. Default 64. */
  maxConnections?: number;
  /** The source of the deadlines. */
  clock: Pick<Clock, 'after'>;
  /** Replaces the client's own HTTPS connections, as in the simulation. */
  connections?: Connections;
}

/** Invalid client options. The message names them, without their values. */
class PaymentServiceClientError extends Error {
  readonly code = 'payment_service_options_invalid';
  override readonly name = 'PaymentServiceClientError';
}

const deadlineMsDefault = 10_000;
const maxConnectionsDefault = 64;

/** @throws PaymentServiceClientError if an option is unusable; plain HTTP is refused here. */
export function readOptions(options: PaymentServiceClientOptions) {
  const address = readBaseUrl(options.baseUrl);
  assertPrivateKey(options.privateKey.reveal());
  return {
    ...address,
    secureContext: options.ca === undefined ? undefined : trusting(options.ca),
    deadlineMs: options.deadlineMs ?? deadlineMsDefault,
    maxConnections: options.maxConnections ?? maxConnectionsDefault,
  };
}

/** `basePath` precedes `/api/v1`, without a slash at its end. */
function readBaseUrl(baseUrl: string): { origin: string; basePath: string } {
  const url = URL.parse(baseUrl);
  if (url?.protocol !== 'https:')
    throw new PaymentServiceClientError("The Payment Service's address must begin with https://.");
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new PaymentServiceClientError(
      "The Payment Service's address must be without user name, password, query and fragment.",
    );
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') };
}

function assertPrivateKey(key: string): void {
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new PaymentServiceClientError(
      'The private key must be printable ASCII without spaces, and not empty.',
    );
}

/** Node silently ignores an invalid certificate, and `ca` alone would replace the usual ones. */
function trusting(ca: string): SecureContext {
  try {
    new X509Certificate(ca);
    return createSecureContext({ ca: [...getCACertificates('default'), ca] });
  } catch {
    throw new PaymentServiceClientError('The additional trusted certificate must be in PEM form.');
  }
}
