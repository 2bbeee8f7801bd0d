/** `provider.callbacks.v1`: the Payment Service's callbacks, keyed by payment token. Internal to Tollgate. */

export const providerCallbacksTopic = 'provider.callbacks.v1';
/** Callbacks that can never be applied, with the header `reason`. */
export const providerCallbacksDlqTopic = 'provider.callbacks.dlq.v1';

/** The part of a bus message that encoding and decoding need. */
export interface EncodedRecord {
  key: string;
  value: Uint8Array;
  headers: Readonly<Record<string, string>>;
}

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
const tokenLengthMax = 100;

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

/** A dead-lettered callback, as stored on `provider.callbacks.dlq.v1`. */
interface DeadLetter {
  environment: string | undefined;
  token: string;
  reason: string;
  /** Milliseconds since the Unix epoch. */
  receivedAt: number | undefined;
}

/** Maximum stored size of a dead-lettered record: a callback has a few hundred bytes, its headers about a hundred. */
const deadLetterValueBytesMax = 65_536;
const deadLetterHeadersBytesMax = 8_192;

/** A foreign record on the topic may be too large to publish, so it is truncated. */
export const encodeDeadLetter = (record: EncodedRecord, reason: string): EncodedRecord => ({
  key: record.key.slice(0, tokenLengthMax),
  value: record.value.subarray(0, deadLetterValueBytesMax),
  headers: { ...headersThatFit(record.headers), reason },
});

function headersThatFit(headers: EncodedRecord['headers']): EncodedRecord['headers'] {
  const kept: Record<string, string> = {};
  let left = deadLetterHeadersBytesMax;
  for (const [name, text] of Object.entries(headers)) {
    // A character has at most four bytes; an upper bound is enough here.
    const bytes = 4 * (name.length + text.length);
    if (bytes > left) continue;
    left -= bytes;
    kept[name] = text;
  }
  return kept;
}

/** The original callback. */
export function withoutDeadLetterReason({ key, value, headers }: EncodedRecord): EncodedRecord {
  const { reason: _, ...others } = headers;
  return { key, value, headers: others };
}

const replayedHeader = 'replayed';

/** A record on the same topic which marks a dead-lettered callback as replayed. `place` is its partition and offset: `3/17`. */
export const encodeReplayMark = (deadLetter: { key: string }, place: string): EncodedRecord => ({
  key: deadLetter.key,
  value: new TextEncoder().encode('{}'),
  headers: { 'content-type': 'application/json', [replayedHeader]: place },
});

export type DecodedDlqRecord = ({ kind: 'dead-lettered' } & DeadLetter) | { kind: 'replayed'; place: string };

/** Never throws. */
export function decodeDlqRecord({ key, headers }: EncodedRecord): DecodedDlqRecord {
  const place = headers[replayedHeader];
  if (place !== undefined) return { kind: 'replayed', place };
  const { environment, reason = 'unknown', 'received-at': at = '' } = headers;
  const receivedAt = /^\d{1,15}$/.test(at) ? Number(at) : undefined;
  return { kind: 'dead-lettered', environment, token: key, reason, receivedAt };
}

export function parseObject(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
