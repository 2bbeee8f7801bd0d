/** The teams' systems and people that call the gateway, and their network, which loses answers and picks any running process. */
import { omitUndefined } from '@tollgate/service-kit';
import { requireNoSecret } from '../checks/secrets.ts';
import type { World } from '../world.ts';
import type { Machine } from '../world/machine.ts';
import type { Random } from '../world/random.ts';
import { type Holder, type TeamName, bearerOf } from './teams.ts';

export interface Answer {
  /** Zero if the answer was lost. */
  statusCode: number;
  body: Record<string, unknown>;
  /** The process that answered. */
  by: string;
  /** The position that the answer includes (`Tollgate-Position`). */
  position: string | undefined;
}
const lost: Answer = { statusCode: 0, body: {}, by: '', position: undefined };

export interface CallerRequest {
  team: TeamName | 'operator';
  /** Holder of the key; the team's first key by default. */
  person?: Holder | undefined;
  method: 'GET' | 'POST';
  url: string;
  body?: object | undefined;
  key?: string | undefined;
  /** Sent as `Tollgate-Min-Position`. */
  minPosition?: string | undefined;
}

/** A world as seen by one caller, with its own random sequence. Reports no violations after a restore. */
export interface Caller extends World {
  /** Sends to any of the processes; lost if the process does not answer or the answer does not arrive. */
  request(request: CallerRequest): Promise<Answer>;
  sleep(durationMs: number): Promise<void>;
  /** Waits until an event of the payment is recorded, at most for the given time. */
  untilRecorded(token: string, atMostMs: number): Promise<void>;
  /** False once callers start nothing new. */
  isOpen(): boolean;
}

/** Callers by name: each has its own random sequence. */
export type CallerOf = (name: string) => Caller;

export const withRandom = (caller: Caller, random: Random): Caller =>
  Object.assign(Object.create(caller) as Caller, { random });

/** A request that a team can repeat. */
export interface Known {
  token: string | undefined;
}

const repeatsMax = 12;

/** Sends until there is a conclusive answer; undefined if there was none. I10: repeats get the same answer. */
export async function insist(
  caller: Caller,
  request: CallerRequest,
  known: Known = { token: undefined },
): Promise<Answer | undefined> {
  for (let count = 0; count < repeatsMax && caller.isOpen(); count += 1) {
    const answer = await caller.request(request);
    if (isConclusive(answer)) {
      note(caller, request, known, answer);
      if (answer.statusCode !== 202 || count > 3) return answer;
    } else if (count > 0) caller.saw('repeated after no answer');
    await caller.sleep(caller.random.between(200, 8_000));
  }
  return undefined;
}

/** Sends the request once, or occasionally twice at the same time. */
export async function insistAtOnce(caller: Caller, request: CallerRequest, known: Known) {
  const isTwice = caller.random.chance(0.3);
  if (isTwice) caller.saw(`twice at once: ${request.url}`);
  return Promise.all(Array.from({ length: isTwice ? 2 : 1 }, () => insist(caller, request, known)));
}

function note(caller: Caller, { url, key }: CallerRequest, known: Known, { statusCode, body }: Answer): void {
  const token = typeof body['token'] === 'string' ? body['token'] : undefined;
  if (statusCode >= 300 || token === undefined || key === undefined) return;
  if (known.token !== undefined && known.token !== token)
    caller.complain(
      'I10',
      `${url} under the key ${key} was answered with ${known.token}, then with ${token}`,
    );
  known.token = token;
}

export const post = (
  team: CallerRequest['team'],
  url: string,
  body: object,
  key?: string,
): CallerRequest => ({ team, method: 'POST', url: `/api/v1/${url}`, body, key });

export const isSuccess = (answer: Answer | undefined): answer is Answer =>
  answer !== undefined && answer.statusCode >= 200 && answer.statusCode < 300;

export const isConclusive = ({ statusCode }: Answer): boolean =>
  statusCode > 0 && statusCode < 500 && statusCode !== 429;

export const codesOf = ({ errors }: Record<string, unknown> = {}): string[] =>
  Array.isArray(errors) ? (errors as { code: string }[]).map(({ code }) => code) : [];

const patienceMs = 30_000;
const hour = 3_600_000;

export function createFrontDoor(world: World, isOpen: () => boolean): CallerOf {
  const { scheduler, faults, trace } = world;
  const pages = new Map<string, string>();
  const expectRead = createReadCheck(world);
  // Reads before a restore say nothing about the state after it.
  const complain: World['complain'] = (invariant, text) => {
    if (!world.isRestored()) world.complain(invariant, text);
  };

  function request(random: Random, asked: CallerRequest): Promise<Answer> {
    const { promise, resolve: end } = Promise.withResolvers<Answer>();
    const lose = () => end(lost);
    const stopWaiting = scheduler.after(patienceMs, 'caller gives up', lose);
    const wasRestored = world.isRestored();
    scheduler.after(random.between(1, 30), `${asked.method} ${asked.url}`, () => {
      const machine = random.pick(world.machines);
      const { process } = machine;
      // A request to a process from before the restore ends with that process.
      const isCut = world.partitions.isCut('teams', machine.name) || world.isRestored() !== wasRestored;
      if (process === undefined || isCut) return lose();
      const life = machine.life();
      life.onCrash(lose);
      life.deliver(0, 'request', () => {
        if (asked.method === 'POST' && faults.strikes('clock-step-at-request', random))
          misleadClock(world, machine, random);
        const requireRead = expectRead(asked, life.name, complain);
        process.server.inject(injected(asked)).then(({ statusCode, body: text, headers }) => {
          const position = headers['tollgate-position'] as string | undefined;
          const answer: Answer = { statusCode, body: readBody(text), by: life.name, position };
          requireRead(answer.body);
          requireProper(asked, answer, text);
          if (world.partitions.isCut(machine.name, 'teams') || faults.strikes('request-lost', random))
            return lose();
          return scheduler.after(random.between(1, 30), `answer of ${asked.url}`, () => end(answer));
        }, lose);
      });
    });
    return promise.finally(stopWaiting);
  }

  function requireProper(
    { url, method, team, body: asked }: CallerRequest,
    { statusCode, body, by }: Answer,
    text: string,
  ): void {
    const codes = codesOf(body).join(' ');
    trace.log(`${by} answers ${team} ${method} ${url}: ${statusCode} ${codes}`);
    requireNoSecret(`the answer to ${method} ${url}`, text, world.complain);
    if (statusCode === 202) world.saw('answered 202');
    if (statusCode === 500) world.complain('500', `${method} ${url} was answered 500: ${text}`);
    if (/^(path_not_found|method_not_allowed)$/.test(codes))
      world.complain('simulation', `nothing is at ${method} ${url}`);
    if (statusCode < 300 && method === 'POST') requireDurable(world, url, body);
    if (url.endsWith('/payments')) requireOnePage(pages, body, complain);
    if (codes === 'payment_not_confirmable') requireKnown(world, asked);
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
  trace.log(`the clock of ${machine.name} is set ${skewMs / 1_000} s ahead`);
  machine.setSkew(skewMs);
  scheduler.after(random.between(2_000, 600_000), `the clock of ${machine.name} is set right`, () =>
    machine.setSkew(0),
  );
}

function injected({ team, person, method, url, body, key, minPosition }: CallerRequest) {
  const headers = omitUndefined({
    authorization: bearerOf(team, person),
    'idempotency-key': key,
    'tollgate-min-position': minPosition,
  });
  return omitUndefined({ method, url, headers, payload: body });
}

function readBody(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
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
