/** HTTPS of the API, for those who do not let a proxy in front of it do that. */
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { StartupError, errorCode, sendErrors } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';

export interface TlsFiles {
  certFile: string;
  keyFile: string;
}

export interface TlsMaterial {
  cert: string;
  key: string;
}

/** @throws StartupError that names the variable whose file cannot be used */
export function readTlsFiles({ certFile, keyFile }: TlsFiles): TlsMaterial {
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

function readNamed(variable: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const reason = errorCode(error) ?? 'unknown error';
    throw new StartupError('tls_unusable', `${variable} names a file that cannot be read (${reason}).`, {
      cause: error,
    });
  }
}

/** Refuses whatever comes over plain HTTP, in the specification's words (section 5). */
export function refusePlainHttp(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) =>
    sendErrors(reply, 403, [
      {
        code: 'https_required',
        kind: 'authentication_error',
        message: 'Requests must use HTTPS. Take it that the key of this request is known to others.',
      },
    ]),
  );
}
