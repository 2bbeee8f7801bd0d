/** `provider.callbacks.v1`: what is read of the Payment Service's callbacks, keyed by payment token. Internal to Tollgate. */

export const providerCallbacksTopic = 'provider.callbacks.v1';
/** Callbacks that can never be applied, with the header `reason`. */
export const providerCallbacksDlqTopic = 'provider.callbacks.dlq.v1';

/** A bus message, as far as encoding and decoding need it. */
export interface EncodedRecord {
  key: string;
  value: Uint8Array;
  headers: Readonly<Record<string, string>>;
}

export interface ReceivedCallback {
  environment: string;
  /** The payment's token, from the callback's path. */
  token: string;
  /** What is kept of the body. */
  body: Uint8Array;
  /** True if the body contained data that could be charged. */
  isRedacted?: boolean;
  /** Milliseconds since the Unix epoch. */
  receivedAt: number;
  /** Of the request that it came by. */
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
      /** Of the request that it came by, as it stands there; absent in records of release 0.1.0. */
      requestId?: string;
    }
  | { kind: 'unreadable'; reason: string };

/** The longest token, characters: ours are far shorter, and no path with a longer one is served. */
const tokenLengthMax = 100;

/** Never throws: the topic may contain anything, and a consumer that throws on a record reads no further. */
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

/** The most bytes kept of a dead-lettered record: a callback has a few hundred, its headers about a hundred. */
const deadLetterValueBytesMax = 65_536;
const deadLetterHeadersBytesMax = 8_192;

/** A foreign record on the topic may be larger than we may publish: it is dead-lettered truncated. */
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

/** The callback as it was before it was dead-lettered. */
export function withoutDeadLetterReason({ key, value, headers }: EncodedRecord): EncodedRecord {
  const { reason: _, ...others } = headers;
  return { key, value, headers: others };
}

const replayedHeader = 'replayed';

/** Marks on the same topic that a dead-lettered callback was replayed. `place` is its partition and offset: `3/17`. */
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

/** The JSON object in `bytes`, or undefined if there is none. */
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
