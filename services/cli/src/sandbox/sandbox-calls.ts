/** Calls the sandbox's controls over HTTPS, with the gateway's key and certificate authority. */
import { StartupError } from '@tollgate/service-kit';
import { Agent, request } from 'undici';
import { z } from 'zod';

interface SandboxAt {
  url: string;
  key: string;
  /** Certificate authority of its server, PEM. */
  ca: string;
}

const refusedSchema = z.object({ errors: z.array(z.object({ message: z.string() })).min(1) });

/** A refusal by the sandbox, in its own words. */
export class SandboxRefusal extends Error {}

export interface SandboxCalls {
  /**
   * @throws SandboxRefusal if the sandbox refuses
   * @throws StartupError if it does not answer
   */
  call<Schema extends z.ZodType>(
    schema: Schema,
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<z.infer<Schema>>;
  close(): Promise<void>;
}

export function createSandboxCalls({ url, key, ca }: SandboxAt): SandboxCalls {
  const dispatcher = new Agent({ connect: { ca } });
  return {
    call: async (schema, method, path, body) => {
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      const headers = { authorization: `Bearer ${key}`, ...type };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await request(`${url}${path}`, { dispatcher, method, headers, ...sent }).catch(
        (error: unknown) => {
          const message = `The sandbox does not answer at ${url}: run npm start in another terminal first.`;
          throw new StartupError('not_running', message, { cause: error });
        },
      );
      const text = await answer.body.text();
      if (answer.statusCode === 200) return schema.parse(JSON.parse(text));
      throw new SandboxRefusal(toSentence(answer.statusCode, text));
    },
    close: () => dispatcher.close(),
  };
}

/** An active fault may have replaced the JSON answer. */
function toSentence(statusCode: number, text: string): string {
  try {
    return refusedSchema
      .parse(JSON.parse(text))
      .errors.map(({ message }) => message)
      .join(' ');
  } catch {
    return `The sandbox answered with HTTP ${statusCode}; a fault that is set may be the cause: faults list.`;
  }
}
