/**
 * The answers of the service, and the rules for every answer.
 *
 * The specification shows no answer but that of a creation, so a specified rule searches a field anywhere in the
 * answer; its exact place is a decision, and tested as one.
 */
import { check } from './conformance-test.ts';

export type Json = Record<string, unknown>;

export interface Answer {
  /** Method and path, for messages. */
  call: string;
  statusCode: number;
  contentType: string;
  location: string | undefined;
  text: string;
  /** The parsed body; undefined if it is not JSON. */
  body: unknown;
}

const statuses = ['init', 'pending', 'approved', 'declined', 'refunded', 'expired'] as const;
export type Status = (typeof statuses)[number];

export const kinds = [
  'api_error',
  'authentication_error',
  'invalid_request_error',
  'processing_error',
] as const;
export type Kind = (typeof kinds)[number];

const shownLengthMax = 400;

/** One line about an answer, short enough for a terminal. */
export function describe({ call, statusCode, text }: Answer): string {
  const line = text.replaceAll(/\s+/g, ' ');
  const shown = line.length > shownLengthMax ? `${line.slice(0, shownLengthMax)} …` : line;
  return `${call} was answered HTTP ${statusCode} ${shown}`;
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** True if a call has not failed, by HTTP and by the body (section 7). */
export const hasSucceeded = ({ statusCode, body }: Answer): boolean =>
  statusCode >= 200 && statusCode < 300 && isObject(body) && body['success'] !== false;

/** Requires that a call succeeded, and returns its body. */
export function expectSuccess(answer: Answer): Json {
  check(hasSucceeded(answer), `The call should succeed; ${describe(answer)}`);
  expectJson(answer);
  return answer.body as Json;
}

/** Demands a JSON body that is marked as one (section 2). */
export function expectJson(answer: Answer): void {
  check(answer.body !== undefined, `The body should be JSON; ${describe(answer)}`);
  check(
    /^application\/(.+\+)?json\b/i.test(answer.contentType),
    `The body should be marked as JSON, not as "${answer.contentType}"; ${describe(answer)}`,
  );
}

export interface ErrorEntry extends Json {
  code: string;
  kind: Kind;
}

/** Requires the error body of section 7, and returns its errors. */
export function expectFailure(answer: Answer): ErrorEntry[] {
  const { body } = answer;
  check(!hasSucceeded(answer), `The call should fail; ${describe(answer)}`);
  check(isObject(body) && body['success'] === false, `success should be false; ${describe(answer)}`);
  const { errors } = body;
  check(
    Array.isArray(errors) && errors.length > 0,
    `errors should be a list with an entry; ${describe(answer)}`,
  );
  for (const error of errors as unknown[]) expectErrorEntry(error, answer);
  return errors as ErrorEntry[];
}

function expectErrorEntry(error: unknown, answer: Answer): void {
  check(isObject(error), `An error should be an object; ${describe(answer)}`);
  const { code, kind } = error;
  check(typeof code === 'string' && code !== '', `Each error should have a code; ${describe(answer)}`);
  check(
    kinds.some((known) => known === kind),
    `The kind of each error should be one of ${kinds.join(', ')}; ${describe(answer)}`,
  );
}

/** Requires a failure all of whose errors have one kind. */
export function expectFailureOf(kind: Kind, answer: Answer): ErrorEntry[] {
  const errors = expectFailure(answer);
  for (const error of errors)
    check(error.kind === kind, `The kind should be ${kind}, not ${error.kind}; ${describe(answer)}`);
  return errors;
}

/** Demands a failure with a code and an HTTP status that this project has decided. */
export function expectDecidedFailure(answer: Answer, statusCode: number, code: string): void {
  const errors = expectFailure(answer);
  check(
    errors.some((error) => error.code === code),
    `The code should be ${code}; ${describe(answer)}`,
  );
  check(
    answer.statusCode === statusCode,
    `The HTTP status should be ${statusCode}, not ${answer.statusCode}; ${describe(answer)}`,
  );
}

/** The value of the first field of that name that is not empty, outermost first; undefined if there is none. */
export function findField(value: unknown, name: string): unknown {
  let level: unknown[] = [value];
  while (level.length > 0) {
    for (const part of level)
      if (isObject(part) && part[name] !== undefined && part[name] !== null) return part[name];
    level = level.flatMap(partsOf);
  }
  return undefined;
}

const partsOf = (value: unknown): unknown[] => {
  if (Array.isArray(value)) return value as unknown[];
  return isObject(value) ? Object.values(value) : [];
};

/** Requires a text in the answer and returns it. */
export function textField(answer: Answer, name: string): string {
  const found = findField(answer.body, name);
  check(
    typeof found === 'string' && found !== '',
    `The answer should have a text ${name}; ${describe(answer)}`,
  );
  return found;
}

/** Requires an integer in the answer and returns it. */
export function integerField(answer: Answer, name: string): number {
  const found = findField(answer.body, name);
  check(Number.isSafeInteger(found), `The answer should have an integer ${name}; ${describe(answer)}`);
  return found as number;
}

/** Demands that a field of the answer is this value. */
export function expectField(answer: Answer, name: string, expected: unknown): void {
  const found = findField(answer.body, name);
  check(
    found === expected,
    `${name} should be ${JSON.stringify(expected)}, not ${JSON.stringify(found)}; ${describe(answer)}`,
  );
}

/** Demands one of the six states of section 3. */
export function statusIn(answer: Answer): Status {
  const found = textField(answer, 'status');
  check(isStatus(found), `status should be one of ${statuses.join(', ')}; ${describe(answer)}`);
  return found;
}

export const isStatus = (text: string): text is Status => statuses.some((status) => status === text);

/** Requires a list of objects anywhere in the answer and returns it. */
export function listIn(answer: Answer): Json[] {
  const list = findList(expectSuccess(answer));
  check(list !== undefined, `The answer should have a list; ${describe(answer)}`);
  for (const entry of list) check(isObject(entry), `The list should hold records; ${describe(answer)}`);
  return list as Json[];
}

function findList(body: Json): unknown[] | undefined {
  const parts = Object.values(body);
  const inner = parts.filter(isObject).flatMap((part) => Object.values(part));
  return [...parts, ...inner].find((part): part is unknown[] => Array.isArray(part));
}
