/** Requests a broker's metadata like a client: an open port does not mean that the broker serves. */
import { connect } from 'node:net';

const metadataKey = 3;
const metadataVersion = 4;
const correlationId = 7;

/** Kafka's protocol: length, key, version, correlation, client id, no topics, do not create any. */
function metadataRequest(): Buffer {
  const clientId = Buffer.from('tollgate-probe');
  const request = Buffer.alloc(4 + 10 + clientId.length + 5);
  request.writeInt32BE(request.length - 4, 0);
  request.writeInt16BE(metadataKey, 4);
  request.writeInt16BE(metadataVersion, 6);
  request.writeInt32BE(correlationId, 8);
  request.writeInt16BE(clientId.length, 12);
  clientId.copy(request, 14);
  return request;
}

/** The answer's length, correlation id and throttle time precede the number of brokers. */
const brokerCountAt = 12;

/** True if a broker answers with metadata that contains a broker. */
export function servesMetadata(port: number, timeoutMs = 2_000): Promise<boolean> {
  return new Promise((resolve) => {
    let answer = Buffer.alloc(0);
    const socket = connect({ host: '127.0.0.1', port });
    const end = (serves: boolean) => {
      socket.destroy();
      resolve(serves);
    };
    socket.setTimeout(timeoutMs, () => end(false));
    socket.once('error', () => end(false));
    socket.once('end', () => end(false));
    socket.once('connect', () => socket.write(metadataRequest()));
    socket.on('data', (chunk) => {
      answer = Buffer.concat([answer, chunk]);
      if (answer.length < brokerCountAt + 4) return;
      end(answer.readInt32BE(4) === correlationId && answer.readInt32BE(brokerCountAt) > 0);
    });
  });
}
