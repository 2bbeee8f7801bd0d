/** Everyone who calls the gateway, and their network, which loses answers and picks any running process. */
import { omitUndefined } from '@tollgate/service-kit';
import { stepClock } from '../faults/disasters.ts';
import { requireNoSecret } from '../checks/secrets.ts';
import type { World } from '../world.ts';
import type { Machine } from '../world/machine.ts';
import type { Random } from '../world/random.ts';
import type { Holder, TeamName } from './teams.ts';

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
  team: TeamName | 'operator' | 'service';
  /** Holder of the key; the team's first key by default. */
  person?: Holder | undefined;
  method: 'GET' | 'POST';
  url: string;
  body?: object | undefined;
  key?: string | undefined;
  /** Sent as `Tollgate-Min-Position`. */
  minPosition?: string | undefined;
}

/** Callers by name: each has its own random sequence. */
export type CallerOf = ReturnType<typeof createFrontDoor>;
export type Caller = ReturnType<CallerOf>;

export const withRandom = (caller: Caller, random: Random): Caller =>
  Object.assign(Object.create(caller) as Caller, { random });

const repeatsMax = 12;

/** Sends until there is a conclusive answer; undefined if there was none. */
export async function insist(caller: Caller, request: CallerRequest): Promise<Answer | undefined> {
  for (let count = 0; count < repeatsMax && caller.isOpen(); count += 1) {
    const answer = await caller.request(request);
    if (isConclusive(answer)) {
      if (answer.statusCode !== 202 || count > 3) return answer;
    } else if (count > 0) caller.saw('repeated after no answer');
    await caller.sleep(caller.random.between(200, 8_000));
  }
  return undefined;
}

/** Sends the request once, or occasionally twice at the same time. */
export async function insistAtOnce(caller: Caller, request: CallerRequest) {
  const isTwice = caller.random.chance(0.3);
  if (isTwice) caller.saw(`twice at once: ${request.url}`);
  const answers = await Promise.all(Array.from({ length: isTwice ? 2 : 1 }, () => insist(caller, request)));
  const created = answers.find(isSuccess)?.body ?? {};
  const token = typeof created['token'] === 'string' ? created['token'] : undefined;
  return { token, created, codes: answers.flatMap((answer) => codesOf(answer?.body)) };
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

/** @param isOpen false once callers start nothing new */
export function createFrontDoor(world: World, isOpen: () => boolean) {
  const { scheduler, faults, trace } = world;
  /** By key or payment: the first token or page. */
  const given = new Map<string, string>();
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
    const peer = asked.team === 'service' ? 'service' : 'teams';
    scheduler.after(random.between(1, 30), `${asked.method} ${asked.url}`, () => {
      const machine = random.pick(world.machines);
      const { process } = machine;
      // A request to a process from before the restore ends with that process.
      const isCut = world.partitions.isCut(peer, machine.name) || world.isRestored() !== wasRestored;
      if (process === undefined || isCut) return lose();
      const life = machine.life();
      life.onCrash(lose);
      life.deliver(0, 'request', () => {
        if (asked.method === 'POST' && faults.strikes('clock-step-at-request', random))
          misleadClock(world, machine, random);
        const requireRead = expectRead(asked, life.name, complain);
        process.server.inject(injected(asked)).then(({ statusCode, body: text, headers }) => {
          const position = headers['tollgate-position'] as string | undefined;
          const answer: Answer = {
            statusCode,
            body: JSON.parse(text || '{}') as Answer['body'],
            by: life.name,
            position,
          };
          requireRead(answer.body);
          requireProper(asked, answer, text);
          if (world.partitions.isCut(machine.name, peer) || faults.strikes('request-lost', random))
            return lose();
          return scheduler.after(random.between(1, 30), `answer of ${asked.url}`, () => end(answer));
        }, lose);
      });
    });
    return promise.finally(stopWaiting);
  }

  function requireProper(asked: CallerRequest, { statusCode, body, by }: Answer, text: string): void {
    const { url, method, team, key } = asked;
    const codes = codesOf(body).join(' ');
    trace.log(`${by} answers ${team} ${method} ${url}: ${statusCode} ${codes}`);
    requireNoSecret(`the answer to ${method} ${url}`, text, world.complain);
    if (statusCode === 202) world.saw('answered 202');
    if (statusCode === 500) world.complain('500', `${method} ${url} was answered 500: ${text}`);
    if (team === 'service') return requireStored(world, asked, statusCode);
    if (/^(path_not_found|method_not_allowed)$/.test(codes))
      world.complain('simulation', `nothing is at ${method} ${url}`);
    if (statusCode < 300 && method === 'POST') {
      requireDurable(world, url, body);
      if (key !== undefined) requireSame('I10', `the key ${key} of ${team} at ${url}`, body['token']);
    }
    // No customer is given two pages.
    if (url.endsWith('/payments')) requireSame('I21', String(body['token']), body['processingUrl']);
    if (codes === 'payment_not_confirmable') requireKnown(world, asked.body);
  }

  function requireSame(invariant: string, owner: string, value: unknown): void {
    if (typeof value !== 'string') return;
    const first = given.get(owner) ?? value;
    given.set(owner, first);
    if (first !== value) complain(invariant, `${owner} was given ${first}, then ${value}`);
  }

  /** The world as seen by one caller, with its own random sequence. Reports no violations after a restore. */
  return (name: string) => {
    const random = world.random.fork(name);
    return Object.assign(Object.create(world) as World, {
      random,
      complain,
      isOpen,
      /** Sends to any of the processes; lost if the process does not answer or the answer does not arrive. */
      request: (asked: CallerRequest) => request(random, asked),
      sleep: (durationMs: number) => sleep(world, durationMs),
      /** Waits until an event of the payment is recorded, at most for the given time. */
      untilRecorded: (token: string, atMostMs: number) => untilRecorded(world, token, atMostMs),
    });
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
function misleadClock(world: World, machine: Machine, random: Random): void {
  stepClock(world, machine, random.pick([-hour, hour]));
  world.scheduler.after(random.between(2_000, 600_000), `the clock of ${machine.name} is set right`, () =>
    machine.setSkew(0),
  );
}

function injected({ team, person, method, url, body, key, minPosition }: CallerRequest) {
  const headers = omitUndefined({
    authorization: person === undefined ? team : `${team} ${person}`,
    'idempotency-key': key,
    'tollgate-min-position': minPosition,
  });
  return omitUndefined({ method, url, headers, payload: body });
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

/** I6: a callback answered with 200 is durable. */
function requireStored(
  { log, complain }: World,
  { url, body = {} }: CallerRequest,
  statusCode: number,
): void {
  const token = url.split('/')[3] ?? '';
  const { status, token: named } = body as { status?: string; token?: string };
  const isStored = log.all().some(({ stream, data }) => {
    if (!stream.startsWith('bus-provider.callbacks.v1:')) return false;
    const { key, value } = data as { key: string; value: string };
    const isNamed = named === undefined || value.includes(`"${named}"`);
    return key === token && isNamed && value.includes(`"${status}"`);
  });
  if (statusCode === 200 && !isStored)
    complain('I6', `a callback about ${token} was answered 200 and is not stored`);
}
