import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import type { ServerFaults } from './faults.ts';

/** `trailers` distinguish errors for a client. */
export function serviceError(
  code: status,
  details: string,
  trailers: Record<string, string> = {},
): ServiceError {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(trailers)) metadata.set(name, value);
  return Object.assign(new Error(details), { code, details, metadata });
}

export const notReady = () => serviceError(status.UNAVAILABLE, 'Server Is Not Ready');

/** The answer of a node that cannot serve now; undefined if it can. */
export function leadership({ state }: Pick<ServerFaults, 'state'>): ServiceError | undefined {
  if (state === 'leading') return undefined;
  return state === 'not-ready'
    ? notReady()
    : serviceError(status.UNKNOWN, 'No leader info available in response');
}

/** A subscription that is dropped; 22.10 words it so. */
export const consumerTooSlow = () =>
  serviceError(
    status.ABORTED,
    'Operation timed out: Consumer too slow to handle event while live. Client resubscription required.',
  );
