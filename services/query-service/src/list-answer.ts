import type { ViewList, ListQuery } from '@tollgate/lists';
import { omitUndefined } from '@tollgate/service-kit';
import type { FastifyReply } from 'fastify';
import type { ViewEnvelope } from '@tollgate/views';
import { sendRefusedPage, tellPosition } from '@tollgate/gateway-api/http';

/** Answers with one page of a list; `name` is the field of the entries. */
export function sendList<View extends Pick<ViewEnvelope, 'position'>>(
  reply: FastifyReply,
  {
    name,
    query,
    list,
    toShown,
  }: {
    name: string;
    query: ListQuery;
    list: ViewList<View>;
    toShown: (view: View) => unknown;
  },
): FastifyReply {
  if (list.kind === 'refused') return sendRefusedPage(reply, list.parameter);
  const { views, nextCursor, totalCount } = list;
  tellPosition(reply, views);
  return reply.send({
    success: true,
    [name]: views.map(toShown),
    ...omitUndefined({ perPage: query.perPage, nextCursor, totalCount }),
  });
}
