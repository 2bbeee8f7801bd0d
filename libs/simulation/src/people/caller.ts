/** A team's system or a person that calls the gateway. Requests without an answer are repeated. */
import type { World } from '../world.ts';
import type { Random } from '../world/random.ts';
import type { Holder, TeamName } from './teams.ts';

interface Answered {
  kind: 'answer';
  statusCode: number;
  body: Record<string, unknown>;
  /** The process that answered. */
  by: string;
  /** The position that the answer includes (`Tollgate-Position`). */
  position: string | undefined;
}
export type Answer = Answered | { kind: 'lost' };

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
): Promise<Answered | undefined> {
  for (let count = 0; count < repeatsMax && caller.isOpen(); count += 1) {
    const answer = await caller.request(request);
    if (answer.kind === 'answer' && answer.statusCode < 500 && answer.statusCode !== 429) {
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

function note(
  caller: Caller,
  { url, key }: CallerRequest,
  known: Known,
  { statusCode, body }: Answered,
): void {
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

export const isSuccess = (answer: Answer | undefined): answer is Answered =>
  answer?.kind === 'answer' && answer.statusCode < 300;

export const codesOf = ({ errors }: Record<string, unknown> = {}): string[] =>
  Array.isArray(errors) ? (errors as { code: string }[]).map(({ code }) => code) : [];
