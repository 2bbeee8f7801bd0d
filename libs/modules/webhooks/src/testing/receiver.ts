/** A receiver of webhooks that is closed at the end of the test. */
import { startReceiver as openReceiver, type Receiver } from '@tollgate/testing';
import { onTestFinished } from 'vitest';

export async function startReceiver(tls?: { key: string; cert: string }): Promise<Receiver> {
  const receiver = await openReceiver(tls);
  onTestFinished(receiver.close);
  return receiver;
}
