import type { DocumentList, ListQuery } from '@tollgate/read-models';
import { given, sendErrors } from '@tollgate/service-kit';
import type { FastifyReply } from 'fastify';
import { refusedPage } from './reading.ts';

/** Answers with one page of a list; `name` is the field that holds what is shown. */
export function sendList<Document>(
  reply: FastifyReply,
  {
    name,
    query,
    list,
    toShown,
  }: {
    name: string;
    query: ListQuery;
    list: DocumentList<Document>;
    toShown: (document: Document) => unknown;
  },
): FastifyReply {
  if (list.kind === 'refused') return sendErrors(reply, 400, [refusedPage(list.parameter)]);
  const { documents, nextCursor, totalCount } = list;
  const { perPage, page = 1, cursor } = query;
  const shownPage = cursor === undefined ? page : undefined;
  return reply.send({
    success: true,
    [name]: documents.map(toShown),
    ...given({ page: shownPage, perPage, nextCursor, totalCount }),
  });
}
