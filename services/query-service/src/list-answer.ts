import type { ViewList, ListQuery } from '@tollgate/view-index';
import { given, sendErrors } from '@tollgate/service-kit';
import type { FastifyReply } from 'fastify';
import { refusedPage } from './reading.ts';

/** Answers with one page of a list; `name` is the field that holds what is shown. */
export function sendList<View>(
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
  if (list.kind === 'refused') return sendErrors(reply, 400, [refusedPage(list.parameter)]);
  const { views, nextCursor, totalCount } = list;
  const { perPage, page = 1, cursor } = query;
  const shownPage = cursor === undefined ? page : undefined;
  return reply.send({
    success: true,
    [name]: views.map(toShown),
    ...given({ page: shownPage, perPage, nextCursor, totalCount }),
  });
}
