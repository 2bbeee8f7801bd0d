/** Read your own writes: a read may ask to include the effect of a command. */
import type { EventStore, Position } from '@tollgate/event-store';
import { sendError } from './error-answers.ts';
import { createPlaces } from '@tollgate/service-kit';
import type { Caller } from '@tollgate/teams';
import type { FastifyReply, FastifyRequest } from 'fastify';

const waitMaxMs = 2_000;
/** Before the store is asked whether the position exists at all. */
const beforeAskingMs = 300;
/** A wait that the caller did not request: short enough to go unnoticed. */
const briefMs = 300;
/** Positions of all our event stores are digits, some with separators. */
const positionPattern = /^\d[\d:/-]{0,63}$/;

/** A read model that is waited for. */
interface Followed {
  position(): Position;
  isCaughtUp(): boolean;
  waitFor(position: Position, timeoutMs: number): Promise<boolean>;
}

export type PositionWaits = ReturnType<typeof createPositionWaits>;

/** A caller that waits for a distant position must not crowd out other teams; brief waits leave room for the others. */
export function createPositionWaits(index: Followed) {
  const asked = createPlaces({ perHolderMax: 200, totalMax: 1_000 });
  const brief = createPlaces({ perHolderMax: 50, totalMax: 250 });
  async function wait(places: typeof asked, position: Position, timeoutMs: number, team: string) {
    if (index.position() >= position) return true;
    const leave = places.take(team);
    return leave !== undefined && index.waitFor(position, timeoutMs).finally(leave);
  }
  return {
    /** True when the index has reached the position; false after `timeoutMs`, and at once if too many callers wait. */
    waitFor: (position: Position, timeoutMs: number, team: string): Promise<boolean> =>
      wait(asked, position, timeoutMs, team),
    /** For a caller that did not request a wait: up to 0.3 seconds, and not at all while the index makes no progress. */
    async waitBriefly(position: Position, team: string): Promise<void> {
      if (index.isCaughtUp()) await wait(brief, position, briefMs, team);
    },
  };
}

/**
 * Waits until the index has reached the position in the request's `Tollgate-Min-Position`, if the answer is from the index.
 * False once the request is refused: 400 `invalid_param`, including for a position that no event of the store has had, 503
 * `read_model_behind`.
 *
 * Without that header, it waits briefly for the latest reads and writes of the same key, which the front door reports
 * (`Tollgate-Own-Position`), and then answers anyway.
 */
export async function awaitMinPosition(
  { waits, store }: { waits: PositionWaits; store: Pick<EventStore, 'head'> },
  { team }: Pick<Caller, 'team'>,
  request: FastifyRequest,
  reply: FastifyReply,
  isCurrent: boolean,
): Promise<boolean> {
  const text = request.headers['tollgate-min-position'];
  if (text === undefined) {
    const own = isCurrent ? undefined : request.headers['tollgate-own-position'];
    if (typeof own === 'string' && positionPattern.test(own)) await waits.waitBriefly(own as Position, team);
    return true;
  }
  if (typeof text !== 'string' || !positionPattern.test(text))
    return refuse(reply, 'Tollgate-Min-Position is invalid.');
  const position = text as Position;
  if (await waits.waitFor(position, isCurrent ? 0 : beforeAskingMs, team)) return true;
  if (position > (await store.head()))
    return refuse(reply, 'Tollgate-Min-Position is beyond the last recorded event.');
  if (isCurrent || (await waits.waitFor(position, waitMaxMs - beforeAskingMs, team))) return true;
  sendError(reply, 'read_model_behind');
  return false;
}

function refuse(reply: FastifyReply, problem: string): false {
  const message = `${problem} Send the Tollgate-Position of an earlier answer.`;
  sendError(reply, 'invalid_param', { message, parameter: 'Tollgate-Min-Position' });
  return false;
}
