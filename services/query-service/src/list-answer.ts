import type { ViewList } from '@tollgate/lists';
import { type ReadShare, omitUndefined } from '@tollgate/service-kit';
import type { FastifyReply } from 'fastify';
import type { ViewEnvelope } from '@tollgate/views';
import { sendRefusedPage, tellPosition } from '@tollgate/gateway-api/http';
import { type Paged, readInPieces } from './pieces.ts';

interface AnsweredList<View, Query> {
  /** Field of the entries. */
  name: string;
  query: Query;
  list: (piece: Query) => ViewList<View>;
  toShown: (view: View) => unknown;
}

/** Answers with one page of a list. */
export async function sendList<View extends object, Query extends Paged>(
  reply: FastifyReply,
  share: ReadShare,
  { name, query, list, toShown }: AnsweredList<View, Query>,
): Promise<FastifyReply> {
  const page = await readInPieces(share, query, list);
  if (page.kind === 'refused') return sendRefusedPage(reply, page.parameter);
  const { views, nextCursor, totalCount } = page;
  tellPosition(
    reply,
    views.filter((view): view is View & Pick<ViewEnvelope, 'position'> => 'position' in view),
  );
  return reply.send({
    success: true,
    [name]: views.map(toShown),
    ...omitUndefined({ perPage: query.perPage, nextCursor, totalCount }),
  });
}
