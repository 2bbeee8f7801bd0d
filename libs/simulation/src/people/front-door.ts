/** The callers' network to the processes: it loses answers and picks any running process. */
import { omitUndefined } from '@tollgate/service-kit';
import { requireNoSecret } from '../checks/secrets.ts';
import type { Machine } from '../world/machine.ts';
import type { Random } from '../world/random.ts';
import type { World } from '../world.ts';
import { type Answer, type Caller, type CallerOf, type CallerRequest, codesOf } from './caller.ts';
import { bearerOf } from './teams.ts';

const patienceMs = 30_000;
const hour = 3_600_000;

/** An answer as a process sends it. */
interface Given {
  statusCode: number;
  text: string;
  by: string;
  position: string | undefined;
  /** The answer does not arrive. */
  isCut: boolean;
}

export function createFrontDoor(world: World, isOpen: () => boolean): CallerOf {
  const { scheduler, faults, trace } = world;
  const pages = new Map<string, string>();
  const expectRead = createReadCheck(world);
  // Reads before a restore say nothing about the state after it.
  const complain: World['complain'] = (invariant, text) => {
    if (!world.isRestored()) world.complain(invariant, text);
  };

  function request(random: Random, asked: CallerRequest): Promise<Answer> {
    const { promise, resolve } = waitPatiently(world);
    const wasRestored = world.isRestored();
    scheduler.after(random.between(1, 30), `${asked.method} ${asked.url}`, () => {
      const { machine, process } = random.pick(world.machines);
      // A request to a process from before the restore ends with that process.
      const isCut = world.partitions.isCut('teams', machine.name) || world.isRestored() !== wasRestored;
      if (process === undefined || isCut) return resolve({ kind: 'lost' });
      const life = machine.life();
      life.onCrash(() => resolve({ kind: 'lost' }));
      life.deliver(0, 'request', () => {
        if (asked.method === 'POST' && faults.strikes('clock-step-at-request', random))
          misleadClock(world, machine, random);
        const requireRead = expectRead(asked, life.name, complain);
        process.server.inject(injected(asked)).then(
          ({ statusCode, body, headers }) => {
            const position = textOf(headers['tollgate-position']);
            const isCut = world.partitions.isCut(machine.name, 'teams');
            requireRead(readBody(body));
            answered(random, asked, { statusCode, text: body, by: life.name, position, isCut }, resolve);
          },
          () => resolve({ kind: 'lost' }),
        );
      });
    });
    return promise;
  }

  function answered(
    random: Random,
    asked: CallerRequest,
    given: Given,
    resolve: (answer: Answer) => void,
  ): void {
    const { url, method, team } = asked;
    const { statusCode, by, position, isCut } = given;
    const body = readBody(given.text);
    const codes = codesOf(body).join(' ');
    trace.tell(`${by} answers ${team} ${method} ${url}: ${statusCode} ${codes}`);
    requireProper(world, asked, given);
    if (statusCode < 300 && method === 'POST') requireDurable(world, url, body);
    if (url.endsWith('/payments')) requireOnePage(pages, body, complain);
    if (codes === 'payment_not_confirmable') requireKnown(world, asked.body);
    if (isCut || faults.strikes('request-lost', random)) return resolve({ kind: 'lost' });
    scheduler.after(random.between(1, 30), `answer of ${url}`, () =>
      resolve({ kind: 'answer', statusCode, body, by, position }),
    );
  }

  return (name) => {
    const random = world.random.fork(name);
    return Object.assign(Object.create(world) as World, {
      random,
      complain,
      isOpen,
      request: (asked: CallerRequest) => request(random, asked),
      sleep: (durationMs: number) => sleep(world, durationMs),
      untilRecorded: (token: string, atMostMs: number) => untilRecorded(world, token, atMostMs),
    }) satisfies Caller;
  };
}

/** Resolves with an answer, or as lost when the caller's patience ends. */
function waitPatiently({ scheduler }: World) {
  const { promise, resolve: end } = Promise.withResolvers<Answer>();
  const stopWaiting = scheduler.after(patienceMs, 'caller gives up', () => end({ kind: 'lost' }));
  const resolve = (answer: Answer): void => {
    stopWaiting();
    end(answer);
  };
  return { promise, resolve };
}

/** Minimum pause between attempts during an outage of days. */
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

/** The clock jumps before the call is announced, and is corrected later. */
function misleadClock({ scheduler, trace }: World, machine: Machine, random: Random): void {
  const skewMs = random.pick([-hour, hour]);
  trace.tell(`the clock of ${machine.name} is set ${skewMs / 1_000} s ahead`);
  machine.setSkew(skewMs);
  scheduler.after(random.between(2_000, 600_000), `the clock of ${machine.name} is set right`, () =>
    machine.setSkew(0),
  );
}

function injected({ team, person, method, url, body, key, minPosition }: CallerRequest) {
  const headers = omitUndefined({
    authorization: bearerOf(team, person),
    'content-type': body && 'application/json',
    'idempotency-key': key,
    'tollgate-min-position': minPosition,
  });
  return omitUndefined({ method, url, headers, payload: body && JSON.stringify(body) });
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function readBody(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function requireProper(
  { complain, saw }: World,
  { method, url }: CallerRequest,
  { statusCode, text }: Given,
): void {
  requireNoSecret(`the answer to ${method} ${url}`, text, complain);
  if (statusCode === 202) saw('answered 202');
  if (statusCode === 500) complain('500', `${method} ${url} was answered 500: ${text}`);
  if (/"(path_not_found|method_not_allowed)"/.test(text))
    complain('simulation', `nothing is at ${method} ${url}`);
}

/** A payment shown by a process never goes back in time, and is never older than the requested position. */
function createReadCheck({ log }: World) {
  /** By process and payment: revision of the latest event shown. */
  const shown = new Map<string, number>();
  return ({ method, url, minPosition }: CallerRequest, by: string, complain: World['complain']) => {
    const [, token] = /\/payments\/(\w+)$/.exec(url) ?? [];
    const key = `${by} ${token}`;
    const recorded = log.read(`payment-${token}`).findLast(({ position }) => position <= (minPosition ?? ''));
    const least = Math.max(shown.get(key) ?? 0, recorded?.revision ?? 0);
    return ({ payment }: Record<string, unknown>): void => {
      const revision = (payment as { revision?: number } | undefined)?.revision;
      if (method !== 'GET' || token === undefined || revision === undefined) return;
      if (revision < least)
        complain('reads', `${by} shows ${token} as of event ${revision}, and event ${least} was wanted`);
      shown.set(key, Math.max(shown.get(key) ?? 0, revision));
    };
  };
}

/** I21: no customer is given two pages. @param pages the pages handed out, by payment */
function requireOnePage(
  pages: Map<string, string>,
  { token, processingUrl: page }: Record<string, unknown>,
  complain: World['complain'],
): void {
  if (typeof token !== 'string' || typeof page !== 'string') return;
  const first = pages.get(token) ?? page;
  pages.set(token, first);
  if (first !== page) complain('I21', `${token} was given ${first}, then ${page}`);
}

/** I5: an operation answered with success is on record at that moment. */
function requireDurable(world: World, url: string, { token }: Record<string, unknown>): void {
  if (typeof token !== 'string' || isOnRecord(world, url, token)) return;
  world.complain('I5', `${url} was answered with success, and ${token} is not on record`);
}

function isOnRecord({ books, log }: World, url: string, token: string): boolean {
  if (url.endsWith('/refunds')) return books.all().some(({ refunds }) => refunds.has(token));
  if (url.endsWith('/transfers')) return log.read(`transfer-${token}`).length > 0;
  if (!url.endsWith('/reconciliations')) return books.find(token) !== undefined;
  const asked = log.all().filter(({ type }) => type === 'ReconciliationRequested');
  return asked.some(({ data }) => (data as { token?: string }).token === token);
}

/** F5: an operation with an unknown status is not refused; once known, it never becomes unknown again. */
function requireKnown({ books, complain }: World, asked: object = {}): void {
  const { token = '' } = asked as { token?: string };
  const phase = books.find(token)?.phase;
  if (phase === 'requested' || phase === 'unresolved')
    complain('F5', `${token} is refused as not confirmable while it is ${phase}`);
}
