/** HTTPS of the API, without a proxy in front of it. */
import { readFileSync } from 'node:fs';
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { sendError } from '@tollgate/gateway-api/http';
import { StartupError, errorCode } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';

export interface TlsFiles {
  certFile: string;
  keyFile: string;
}

export type TlsMaterial = ReturnType<typeof readTlsFiles>;

/** @throws StartupError with the variable whose file cannot be used */
export function readTlsFiles({ certFile, keyFile }: TlsFiles) {
  const cert = readNamed('GATEWAY_TLS_CERT_FILE', certFile);
  const key = readNamed('GATEWAY_TLS_KEY_FILE', keyFile);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new StartupError(
      'tls_unusable',
      'GATEWAY_TLS_CERT_FILE and GATEWAY_TLS_KEY_FILE must name a certificate and its own private key, both in PEM form.',
      { cause: error },
    );
  }
  return { cert, key };
}

/** When a certificate ends, milliseconds since the Unix epoch. @param cert PEM; of a chain, the first one counts */
export const endOfCertificate = (cert: string): number => Date.parse(new X509Certificate(cert).validTo);

/** @param variable that names the file; `code` is that of the StartupError if it cannot be read */
export function readNamed(variable: string, file: string, code = 'tls_unusable', what = 'a file'): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const reason = errorCode(cause) ?? 'unknown error';
    throw new StartupError(code, `${variable} names ${what} that cannot be read (${reason}).`, { cause });
  }
}

/** Refuses plain HTTP, in the specification's words (section 5). */
export function refusePlainHttp(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => sendError(reply, 'https_required'));
}
