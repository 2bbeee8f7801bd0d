import { Agent } from 'undici';
import { type InternalCredential, internalCredentialHeader } from './internal-credential.ts';

/** Messages to instances of another service, each sent once. */
export interface InternalPost {
  /** @returns whether it was accepted, and else with which status. @throws the error of a connection without an answer */
  send(origin: string, body: string): Promise<{ isAccepted: boolean; statusCode: number }>;
  /** Waits for what is under way. */
  close(): Promise<void>;
  /** Breaks off what is under way. */
  abort(): Promise<void>;
}

export function createInternalPost(
  path: string,
  { credential, answerWithinMs }: { credential: Pick<InternalCredential, 'sign'>; answerWithinMs: number },
): InternalPost {
  const timeouts = { headersTimeout: answerWithinMs, bodyTimeout: answerWithinMs };
  const agent = new Agent({ connect: { timeout: answerWithinMs }, ...timeouts });
  return {
    async send(origin, body) {
      const headers = {
        'content-type': 'application/json',
        [internalCredentialHeader]: credential.sign('POST', path),
      };
      const { statusCode, body: answer } = await agent.request({
        origin,
        path,
        method: 'POST',
        headers,
        body,
      });
      await answer.dump();
      return { isAccepted: statusCode === 202, statusCode };
    },
    close: () => agent.close(),
    abort: () => agent.destroy(),
  };
}
