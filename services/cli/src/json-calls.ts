/** JSON calls with a bearer key: to a running gateway as its demo team, and to the controls of its sandbox. */
import { existsSync } from 'node:fs';
import { type Quickstart, dataDirConfigSchema, openDataDirectory } from '@tollgate/gateway/configuration';
import { StartupError, omitUndefined, readConfig, systemClock } from '@tollgate/service-kit';
import { Agent, request } from 'undici';
import { z } from 'zod';

/** @throws StartupError if no gateway runs on the data directory */
export function readRunningGateway(env: Readonly<Record<string, string | undefined>>): Quickstart {
  const { dataDir } = readConfig(dataDirConfigSchema, env);
  // Opening a folder would create it.
  const quickstart = existsSync(dataDir) ? openDataDirectory(dataDir).readQuickstart() : undefined;
  if (quickstart !== undefined) return quickstart;
  const message = `No gateway runs on ${dataDir}. Run npm start in another terminal first.`;
  throw new StartupError('not_running', message);
}

/** @throws StartupError if there is no answer, or another one than HTTP 200 */
export type JsonCall = <Schema extends z.ZodType>(
  schema: Schema,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
) => Promise<z.infer<Schema>>;

interface Peer {
  /** In messages. */
  name: string;
  url: string;
  key: string;
  /** Certificate authority of its server, PEM. */
  ca?: string;
}

export function createJsonCalls({ name, url, key, ca }: Peer): { call: JsonCall; close(): Promise<void> } {
  const dispatcher = new Agent(ca === undefined ? {} : { connect: { ca } });
  return {
    call: async (schema, method, path, body) => {
      const hasBody = body !== undefined;
      const headers = omitUndefined({
        authorization: `Bearer ${key}`,
        'content-type': hasBody ? 'application/json' : undefined,
      });
      const sent = omitUndefined({ body: hasBody ? JSON.stringify(body) : undefined });
      const answer = await request(`${url}${path}`, { dispatcher, method, headers, ...sent }).catch(
        (error: unknown) => {
          const message = `The ${name} does not answer at ${url}: run npm start in another terminal first.`;
          throw new StartupError('not_running', message, { cause: error });
        },
      );
      const text = await answer.body.text();
      if (answer.statusCode === 200) return schema.parse(JSON.parse(text));
      throw new StartupError('call_refused', toSentence(name, answer.statusCode, text));
    },
    close: () => dispatcher.close(),
  };
}

/** @throws StartupError if the demo team has no key */
export function callsOfDemoTeam({ gatewayUrl, apiKey }: Pick<Quickstart, 'gatewayUrl' | 'apiKey'>) {
  if (apiKey !== undefined) return createJsonCalls({ name: 'gateway', url: gatewayUrl, key: apiKey });
  throw new StartupError(
    'no_key',
    'The demo team has no key: issue one (npm run tollgate -- key issue demo --help), and put it into quickstart.json as apiKey.',
  );
}

const refusalSchema = z.object({ errors: z.array(z.object({ message: z.string() })).min(1) });

/** An active fault may have replaced the JSON answer. */
function toSentence(name: string, statusCode: number, text: string): string {
  try {
    const { errors } = refusalSchema.parse(JSON.parse(text));
    return errors.map(({ message }) => message).join(' ');
  } catch {
    return `The ${name} answered with HTTP ${statusCode}; a fault that is set may be the cause: faults list.`;
  }
}

const pauseMs = 20;

/** Repeats a question until its answer suffices or the time is over, and returns the last answer. */
export async function askUntil<Answer>(
  ask: () => Promise<Answer>,
  isEnough: (answer: Answer) => boolean,
  withinMs: number,
): Promise<Answer> {
  const giveUpAt = systemClock.monotonic() + withinMs;
  for (;;) {
    const answer = await ask();
    if (isEnough(answer) || systemClock.monotonic() > giveUpAt) return answer;
    await systemClock.sleep(pauseMs);
  }
}

/** @throws StartupError if it takes longer than ten seconds */
export async function untilApproved(readStatus: () => Promise<string | undefined>): Promise<void> {
  const status = await askUntil(readStatus, (each) => each === 'approved', 10_000);
  if (status !== 'approved') throw new StartupError('not_approved', 'The payment was not approved in time.');
}
