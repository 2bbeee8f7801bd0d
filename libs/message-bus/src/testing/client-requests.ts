/** Records the requests of a Kafka client on the wire. */

/** Numbers of Kafka's protocol. */
export const apiKeys = { produce: 0, initProducerId: 22 } as const;

export interface ClientRequest {
  apiKey: number;
  apiVersion: number;
  /** The part after the header. */
  body: Buffer;
}

/** Splits the bytes of one connection into requests; none of those that are read has a flexible header. */
export function requestReader(onRequest: (request: ClientRequest) => void): (chunk: Buffer) => void {
  let buffered = Buffer.alloc(0);
  return (chunk) => {
    buffered = Buffer.concat([buffered, chunk]);
    for (;;) {
      const end = buffered.length < 4 ? Infinity : 4 + buffered.readInt32BE(0);
      if (buffered.length < end) return;
      onRequest(toRequest(buffered.subarray(4, end)));
      buffered = buffered.subarray(end);
    }
  };
}

/** Key, version, correlation, client id, body. */
function toRequest(bytes: Buffer): ClientRequest {
  const clientIdLength = Math.max(0, bytes.readInt16BE(8));
  return {
    apiKey: bytes.readInt16BE(0),
    apiVersion: bytes.readInt16BE(2),
    body: bytes.subarray(10 + clientIdLength),
  };
}

/** How many copies a produce request wants confirmed: -1 for all. It follows the name of a transaction, which may be null. */
export function acksOf({ body }: ClientRequest): number {
  return body.readInt16BE(2 + Math.max(0, body.readInt16BE(0)));
}
