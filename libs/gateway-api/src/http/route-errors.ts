/** Errors that a route may answer. */
import { type ErrorCode, statedError } from './errors.ts';
import { mayBeExpensive } from './expensive-reads.ts';
import type { Route } from './routes.ts';

/**
 * Possible errors of every call with a key; `service_unavailable` and `answer_lost` come from the front door of a distributed
 * deployment.
 */
const underKey: readonly ErrorCode[] = [
  ...(['auth_header_not_found', 'incorrect_private_key', 'api_key_expired', 'network_not_allowed'] as const),
  ...(['person_token_expired', 'person_token_revoked', 'session_idle'] as const),
  ...(['scope_missing', 'incorrect_team', 'rate_limit_exceeded'] as const),
  ...(['core_api_error', 'store_unavailable', 'service_unavailable', 'answer_lost'] as const),
  // While two releases run side by side.
  ...(['event_of_newer_version', 'upgrade_not_finished'] as const),
];
/** With or without a key: a request with invalid HTTP, too slow, or with too long headers reaches no route. */
const always: readonly ErrorCode[] = ['invalid_request', 'request_timeout'];
const withBody: readonly ErrorCode[] = [
  ...(['invalid_json', 'invalid_param', 'body_too_large', 'unsupported_media_type'] as const),
];

/** All possible answers of a call beyond its own, by status. */
export function errorsOf(
  route: Pick<Route, 'scopes' | 'body' | 'errors' | 'query' | 'minPosition' | 'isExpensive'>,
): Readonly<Record<string, readonly ErrorCode[]>> {
  const { scopes, body, query, minPosition, errors = [] } = route;
  const codes = new Set<ErrorCode>([
    ...always,
    ...(body === undefined ? [] : withBody),
    ...(query === undefined && minPosition === undefined ? [] : (['invalid_param'] as const)),
    ...errors,
    ...(scopes === undefined ? [] : underKey),
    ...(mayBeExpensive(route) ? (['too_many_reads'] as const) : []),
  ]);
  return Object.fromEntries(Map.groupBy(codes, (code) => String(statedError(code).status)));
}
