/**
 * A peer for tests with the specification's fields only. It reduces the answers of a richer service to those of a bare one: a
 * second profile of the
 * Payment Service, without a second model of it.
 */

export interface PlainRequest {
  method: string;
  path: string;
}

export interface PlainAnswer {
  statusCode: number;
  body: string;
}

type Body = Record<string, unknown>;

/** Section 4 shows no query parameters of lists, so a bare service reads none. */
export const withoutFilters = <Request extends PlainRequest>(request: Request): Request => ({
  ...request,
  path: request.path.replace(/\/payments\?.*$/, '/payments'),
});

/** The bare form of another service's answer. A body that is not a JSON object stays unchanged. */
export function toBareAnswer({ method, path }: PlainRequest, answer: PlainAnswer): PlainAnswer {
  const body = readObject(answer.body);
  if (body === undefined) return answer;
  if (body['success'] !== true) return bareFailure(body, answer);
  const bare = { success: true, ...shownBy(`${method} ${resourceOf(path)}`, body) };
  return { statusCode: answer.statusCode, body: JSON.stringify(bare) };
}

function readObject(text: string): Body | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const kinds: readonly unknown[] = [
  'api_error',
  'authentication_error',
  'invalid_request_error',
  'processing_error',
];
/** Section 7 shows no HTTP status codes of failures. */
const statusCodes = [200, 400, 403, 409, 418, 422, 500, 502] as const;

/** Section 7 shows no codes: those of a bare service are in none of our lists. */
function bareFailure(body: Body, { body: text }: PlainAnswer): PlainAnswer {
  const errors = Array.isArray(body['errors']) ? body['errors'].filter(isObject) : [];
  const bare = errors.map(({ kind }) => ({
    code: `E${1_000 + (text.length % 1_000)}`,
    kind: kinds.includes(kind) ? kind : 'processing_error',
  }));
  const statusCode = statusCodes[text.length % statusCodes.length] ?? 400;
  return { statusCode, body: JSON.stringify({ success: false, errors: bare }) };
}

/** `payments/{token}` for a retrieval. */
function resourceOf(path: string): string {
  const resource = (path.split('?')[0] ?? '').replace(/^.*\/api\/v1\//, '');
  return resource.replace(/^payments\/(?!confirm$|decline$).+/, 'payments/{token}');
}

function shownBy(operation: string, body: Body): Body {
  switch (operation) {
    case 'POST payments':
      // Without the URL of its page it could not be paid: hosted checkout (section 1) presupposes it.
      return pick(body, ['token', 'processingUrl']);
    case 'POST refunds':
      return pick(body, ['token']);
    case 'POST payouts':
      return pick(objectIn(body, 'payout'), ['token']);
    case 'GET payments/{token}':
      return { payment: barePayment(objectIn(body, 'payment')) };
    case 'GET payments':
      return { payments: listIn(body, 'payments').map(barePayment) };
    case 'GET balance':
      return bareBalance(objectIn(body, 'wallet'));
    case 'GET disputes/list':
      return { disputes: listIn(body, 'disputes').map(() => ({})) };
    default:
      return {};
  }
}

const objectIn = (body: Body, field: string): Body => (isObject(body[field]) ? body[field] : {});
const listIn = (body: Body, field: string): Body[] => {
  const list = body[field];
  return Array.isArray(list) ? list.filter(isObject) : [];
};

/** Payouts have no states (section 3). */
const barePayment = (payment: Body): Body =>
  pick(
    payment,
    payment['operationType'] === 'payouts' ? ['token', 'orderNumber'] : ['token', 'status', 'orderNumber'],
  );

const bareBalance = ({ available, hold: held }: Body): Body => ({ available, held });

const pick = (body: Body, names: readonly string[]): Body =>
  Object.fromEntries(names.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])));
