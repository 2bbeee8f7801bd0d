/** `provider.callbacks.v1`: the Payment Service's callbacks, keyed by payment token. Internal to Tollgate. */
import { type EncodedRecord, parseObject } from './record-format.ts';

export const providerCallbacksTopic = 'provider.callbacks.v1';

export interface ReceivedCallback {
  environment: string;
  /** The payment's token in the callback's path. */
  token: string;
  /** The stored part of the body. */
  body: Uint8Array;
  /** True if the body contained card data. */
  isRedacted?: boolean;
  /** Milliseconds since the Unix epoch. */
  receivedAt: number;
  /** Id of the callback's HTTP request. */
  requestId?: string;
}

export const encodeCallbackRecord = (callback: ReceivedCallback): EncodedRecord => ({
  key: callback.token,
  value: callback.body,
  headers: {
    'content-type': 'application/json',
    environment: callback.environment,
    'received-at': String(callback.receivedAt),
    ...(callback.isRedacted === true ? { redacted: 'true' } : {}),
    ...(callback.requestId === undefined ? {} : { 'request-id': callback.requestId }),
  },
});

export type DecodedCallback =
  | {
      kind: 'callback';
      environment: string;
      token: string;
      body: Readonly<Record<string, unknown>>;
      /** The header of the request id; absent in records of release 0.1.0. */
      requestId?: string;
    }
  | { kind: 'unreadable'; reason: string };

/** The longest token, in characters: ours are far shorter, and longer paths are not served. */
export const tokenLengthMax = 100;

/** Never throws: the topic may contain anything, and a consumer that throws on a record stops. */
export function decodeCallbackRecord(record: EncodedRecord): DecodedCallback {
  const environment = record.headers['environment'];
  if (record.key === '' || environment === undefined)
    return { kind: 'unreadable', reason: 'no token or environment' };
  if (record.key.length > tokenLengthMax) return { kind: 'unreadable', reason: 'the key is not a token' };
  const body = parseObject(record.value);
  if (body === undefined) return { kind: 'unreadable', reason: 'the body is not a JSON object' };
  const requestId = record.headers['request-id'];
  return {
    kind: 'callback',
    environment,
    token: record.key,
    body,
    ...(requestId === undefined ? {} : { requestId }),
  };
}
