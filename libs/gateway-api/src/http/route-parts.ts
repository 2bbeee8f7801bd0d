/** Parts shared by routes of several resources. */
import type { AnswerName } from './answers.ts';
import type { ErrorCode } from './errors.ts';
import type { AnsweringService, Route, Tag } from './routes.ts';

/** Possible answers of every command that calls the Payment Service. */
export const ofProviderCalls = [
  ...['operation_in_progress', 'no_account', 'provider_account_refused', 'provider_not_reached'],
  ...['provider_unavailable', 'account_paused', 'account_draining'],
] as readonly ErrorCode[];
export const done = (meaning: string, schema: AnswerName) => ({ 200: { meaning, schema } });
export const onePage = (schema: AnswerName) =>
  done('One page; it may be shorter than `perPage` while `nextCursor` is present.', schema);
/** The answer of a read model. */
export const shown = (meaning: string, schema: AnswerName, ...more: ErrorCode[]) => ({
  answers: done(meaning, schema),
  errors: ['read_model_behind' as const, ...more],
});
/** A list with pages. */
export const listed = (schema: AnswerName) => ({
  answers: onePage(schema),
  errors: ['read_model_behind' as const],
});
/** A list of the caller's team. */
export const ownList = (schema: AnswerName) => ({
  minPosition: 'awaited' as const,
  tellsPosition: true as const,
  ...listed(schema),
});
export const unknown = (
  schema: AnswerName,
  meaning = 'Sent; the outcome is not known yet. Retrieve it later.',
) => ({ 202: { meaning, schema } });

/** The answer of a read by token. */
export const oneObject = (meaning: string, schema: AnswerName) => ({
  minPosition: 'current' as const,
  tellsPosition: true as const,
  isTagged: true as const,
  answers: {
    ...done(meaning, schema),
    304: { meaning: 'Unchanged since the `ETag` in `If-None-Match`; no body.' },
  },
});

/** For exported files: they contain every match, so they have no pages. */
export const csvFile = {
  answers: { 200: { meaning: 'The file.', type: 'text/csv' } },
  isExpensive: true as const,
  errors: ['read_model_behind' as const],
};
export const ownCsvFile = { minPosition: 'awaited' as const, ...csvFile };

export const calls = { isCommand: true, handsOnErrors: true } as const;

const stated =
  <Method extends Route['method']>(method: Method) =>
  <Service extends AnsweringService, Url extends string>(service: Service, tag: Tag, url: Url) => ({
    service,
    method,
    url,
    tag,
  });
export const get = stated('GET');
export const post = stated('POST');
export const patch = stated('PATCH');
export const remove = stated('DELETE');
