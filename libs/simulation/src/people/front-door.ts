/** How teams reach the processes: through a network that loses answers, to whichever process stands. */
import type { Answer, CallerRequest, CallerWorld } from './caller.ts';
import type { Machine } from '../world/machine.ts';
import type { Random } from '../world/random.ts';
import { requireNoSecret } from '../checks/secrets.ts';
import { bearerOf } from './teams.ts';
import type { World } from '../world.ts';

const patienceMs = 30_000;
const hour = 3_600_000;

/** An answer as it leaves a process. */
interface Given {
  statusCode: number;
  text: string;
  by: string;
  position: string | undefined;
  /** It does not arrive. */
  isCut: boolean;
}

export function createFrontDoor(world: World, isOpen: () => boolean) {
  const { scheduler, faults, trace } = world;
  const pages = new Map<string, string>();

  function request(random: Random, asked: CallerRequest): Promise<Answer> {
    const { promise, resolve } = waitPatiently(world);
    const wasRestored = world.isRestored();
    scheduler.after(random.between(1, 30), `${asked.method} ${asked.url}`, () => {
      const { machine, process } = random.pick(world.machines);
      // What was on its way to a process of before the restore ends with it.
      const isCut = world.partitions.isCut('teams', machine.name) || world.isRestored() !== wasRestored;
      if (process === undefined || isCut) return resolve({ kind: 'lost' });
      const life = machine.life();
      life.onCrash(() => resolve({ kind: 'lost' }));
      life.deliver(0, 'request', () => {
        if (asked.method === 'POST' && faults.strikes('clock-step-at-request', random))
          misleadClock(world, machine, random);
        process.server.inject(injected(asked)).then(
          ({ statusCode, body, headers }) => {
            const isLost = world.partitions.isCut(machine.name, 'teams');
            const position = textOf(headers['tollgate-position']);
            answered(
              random,
              asked,
              { statusCode, text: body, by: life.name, position, isCut: isLost },
              resolve,
            );
          },
          () => resolve({ kind: 'lost' }),
        );
      });
    });
    return promise;
  }

  function answered(
    random: Random,
    { url, method, team, body: asked }: CallerRequest,
    { statusCode, text, by, position, isCut }: Given,
    resolve: (answer: Answer) => void,
  ): void {
    const body = readBody(text);
    trace.tell(
      `${by} answers ${team} ${method} ${url}: ${statusCode}${statusCode >= 400 ? ` ${codeOf(body)}` : ''}`,
    );
    requireProper(world, { method, url, statusCode, text });
    if (statusCode < 300 && method === 'POST') requireDurable(world, url, body);
    if (url.endsWith('/payments')) requireOnePage(world, pages, body);
    if (codeOf(body) === 'payment_not_confirmable') requireKnown(world, asked);
    if (isCut || faults.strikes('request-lost', random)) return resolve({ kind: 'lost' });
    scheduler.after(random.between(1, 30), `answer of ${url}`, () =>
      resolve({ kind: 'answer', statusCode, body, by, position }),
    );
  }

  const waiting = new Map<string, CallerRequest>();
  return {
    callerOf: (random: Random): CallerWorld => ({
      random,
      waiting,
      sleep: (durationMs) => sleep(world, durationMs),
      untilRecorded: (token, atMostMs) => untilRecorded(world, token, atMostMs),
      isOpen,
      ledger: world.ledger,
      hidesAuthorizations: world.faults.isBare,
      isInReview: (token: string) => (world.books.find(token)?.reviewCount ?? 0) > 0,
      tell: trace.tell,
      complain: whileItStands(world),
      saw: world.saw,
      request: (asked) => request(random, asked),
    }),
  };
}

/** I21: no customer is given two pages. @param pages those that were given, by payment */
function requireOnePage(
  world: World,
  pages: Map<string, string>,
  { token, processingUrl: page }: Record<string, unknown>,
): void {
  if (typeof token !== 'string' || typeof page !== 'string') return;
  const first = pages.get(token) ?? page;
  pages.set(token, first);
  if (first !== page) whileItStands(world)('I21', `${token} was given ${first}, then ${page}`);
}

/** What comes first: an answer, or the end of the caller's patience. */
function waitPatiently({ scheduler }: World) {
  const { promise, resolve: end } = Promise.withResolvers<Answer>();
  const stopWaiting = scheduler.after(patienceMs, 'caller gives up', () => end({ kind: 'lost' }));
  const resolve = (answer: Answer): void => {
    stopWaiting();
    end(answer);
  };
  return { promise, resolve };
}

/** What somebody has seen before a restore says nothing about what there is after it. */
export const whileItStands =
  ({ isRestored, complain }: World): World['complain'] =>
  (invariant, text) => {
    if (!isRestored()) complain(invariant, text);
  };

/** While nothing runs for days nobody tries more often than this. */
const outagePauseMs = 600_000;

function sleep({ scheduler, pace, isOutage }: World, durationMs: number): Promise<void> {
  const pauseMs = Math.max(pace * durationMs, isOutage() ? outagePauseMs : 0);
  return new Promise((resolve) => void scheduler.after(pauseMs, 'caller sleeps', () => resolve()));
}

function untilRecorded({ scheduler, log, pace }: World, token: string, atMostMs: number): Promise<void> {
  return new Promise((resolve) => {
    const forget = log.onEvent(({ stream }) => {
      if (stream === `payment-${token}`) end();
    });
    const cancel = scheduler.after(pace * atMostMs, 'caller waits for an event', end);
    function end(): void {
      forget();
      cancel();
      resolve();
    }
  });
}

/** The clock goes wrong before the call is announced, and is set right again. */
function misleadClock({ scheduler, trace }: World, machine: Machine, random: Random): void {
  const skewMs = random.pick([-hour, hour]);
  trace.tell(`the clock of ${machine.name} is set ${skewMs / 1_000} s ahead`);
  machine.setSkew(skewMs);
  scheduler.after(random.between(2_000, 600_000), `the clock of ${machine.name} is set right`, () =>
    machine.setSkew(0),
  );
}

function injected({ team, person, method, url, body, key, minPosition }: CallerRequest) {
  const headers = {
    authorization: bearerOf(team, person),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(key === undefined ? {} : { 'idempotency-key': key }),
    ...(minPosition === undefined ? {} : { 'tollgate-min-position': minPosition }),
  };
  return { method, url, headers, ...(body === undefined ? {} : { payload: JSON.stringify(body) }) };
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function readBody(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

const codeOf = ({ errors }: Record<string, unknown>): string =>
  Array.isArray(errors) ? (errors as { code: string }[]).map(({ code }) => code).join(' ') : '';

function requireProper(
  { complain, saw }: World,
  {
    method,
    url,
    statusCode,
    text,
  }: Pick<CallerRequest, 'method' | 'url'> & Pick<Given, 'statusCode' | 'text'>,
): void {
  requireNoSecret(`the answer to ${method} ${url}`, text, complain);
  if (statusCode === 202) saw('answered 202');
  if (statusCode === 500) complain('500', `${method} ${url} was answered 500: ${text}`);
  if (['path_not_found', 'method_not_allowed'].includes(codeOf(readBody(text))))
    complain('simulation', `nothing is at ${method} ${url}`);
}

/** I5: what was answered with success is on record at that moment. */
function requireDurable(world: World, url: string, { token }: Record<string, unknown>): void {
  if (typeof token !== 'string' || isOnRecord(world, url, token)) return;
  world.complain('I5', `${url} was answered with success, and ${token} is not on record`);
}

function isOnRecord({ books, log }: World, url: string, token: string): boolean {
  if (url.endsWith('/refunds')) return books.all().some(({ refunds }) => refunds.has(token));
  if (!url.endsWith('/reconciliations')) return books.find(token) !== undefined;
  const asked = log.all().filter(({ type }) => type === 'ReconciliationRequested');
  return asked.some(({ data }) => (data as { token?: string }).token === token);
}

/** F5: what nobody knows yet is not refused; once it is known, it is never unknown again. */
function requireKnown({ books, complain }: World, asked: object = {}): void {
  const { token } = asked as { token?: string };
  const operation = token === undefined ? undefined : books.find(token);
  if (operation?.phase === 'requested' || operation?.phase === 'unresolved')
    complain('F5', `${operation.token} is refused as not confirmable while it is ${operation.phase}`);
}
