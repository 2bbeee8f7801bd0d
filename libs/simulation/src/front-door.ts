/** How teams reach the processes: through a network that loses answers, to whichever process stands. */
import type { Answer, CallerRequest, CallerWorld } from './callers.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

const patienceMs = 30_000;

export function createFrontDoor(world: World, isOpen: () => boolean) {
  const { scheduler, faults, trace } = world;

  const sleep = (durationMs: number): Promise<void> =>
    new Promise((resolve) => void scheduler.after(durationMs, 'caller sleeps', () => resolve()));

  function request(random: Random, asked: CallerRequest): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    scheduler.after(patienceMs, 'caller gives up', () => resolve({ kind: 'lost' }));
    scheduler.after(random.between(1, 30), `${asked.method} ${asked.url}`, () => {
      const { machine, process } = random.pick(world.machines);
      if (process === undefined) return resolve({ kind: 'lost' });
      const life = machine.life();
      life.onCrash(() => resolve({ kind: 'lost' }));
      life.deliver(0, 'request', () => {
        const { team, method, url, body, key } = asked;
        const headers = {
          authorization: `Bearer ${team}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        };
        const payload = body === undefined ? {} : { payload: JSON.stringify(body) };
        process.api.inject({ method, url, headers, ...payload }).then(
          (answer) =>
            answered(
              random,
              asked,
              { statusCode: answer.statusCode, text: answer.body, by: life.name },
              resolve,
            ),
          () => resolve({ kind: 'lost' }),
        );
      });
    });
    return promise;
  }

  function answered(
    random: Random,
    { url, method, team }: CallerRequest,
    { statusCode, text, by }: { statusCode: number; text: string; by: string },
    resolve: (answer: Answer) => void,
  ): void {
    const body = readBody(text);
    trace.tell(
      `${by} answers ${team} ${method} ${url}: ${statusCode}${statusCode >= 400 ? ` ${codeOf(body)}` : ''}`,
    );
    if (statusCode === 500) world.complain('500', `${method} ${url} was answered 500: ${text}`);
    if (statusCode < 300 && method === 'POST') requireDurable(world, url, body);
    if (statusCode === 202) world.saw('answered 202');
    if (faults.strikes('request-lost', random)) return resolve({ kind: 'lost' });
    scheduler.after(random.between(1, 30), `answer of ${url}`, () =>
      resolve({ kind: 'answer', statusCode, body }),
    );
  }

  return {
    callerOf: (random: Random): CallerWorld => ({
      ...{
        random,
        sleep,
        isOpen,
        ledger: world.ledger,
        isInReview: (token: string) => (world.books.find(token)?.reviewCount ?? 0) > 0,
        tell: trace.tell,
        complain: world.complain,
        saw: world.saw,
      },
      request: (asked) => request(random, asked),
    }),
  };
}

function readBody(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

const codeOf = ({ errors }: Record<string, unknown>): string =>
  Array.isArray(errors) ? (errors as { code: string }[]).map(({ code }) => code).join(' ') : '';

/** I5: what was answered with success is on record at that moment. */
function requireDurable({ books, complain }: World, url: string, { token }: Record<string, unknown>): void {
  if (typeof token !== 'string') return;
  const isRefund = url.endsWith('/refunds');
  const isThere = isRefund
    ? books.all().some(({ refunds }) => refunds.has(token))
    : books.find(token) !== undefined;
  if (!isThere) complain('I5', `${url} was answered with success, and ${token} is not on record`);
}
