import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { errorAnswer } from './error-answers.ts';
import { apiErrors, statedError, type ErrorCode } from './errors.ts';

const codes = Object.keys(apiErrors) as ErrorCode[];
const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** The sources that produce answers, without this list and its derivatives. */
const sources = globSync('{services,libs}/*/src/**/*.ts', { cwd: root })
  .filter(
    (file) =>
      !/\.spec\.ts$|\/testing\/|^services\/payment-service|^libs\/(conformance|payment-api)/.test(file),
  )
  .filter((file) => !/http\/(errors|routes)\.ts$/.test(file))
  .map((file) => readFileSync(`${root}${file}`, 'utf8'));

// Otherwise a code that is no longer used would stay in the OpenAPI document.
test.each(codes)('%s is answered somewhere', (code) => {
  const ofSubject = /^(payment|payout)(_not_found)$/.exec(code);
  const texts = [`'${code}'`, `  ${code}:`, ...(ofSubject === null ? [] : [`_not_found`])];
  expect(sources.some((source) => texts.some((text) => source.includes(text)))).toBe(true);
});

test('a message consists of whole sentences, and asks for a retry only if one may succeed', () => {
  for (const code of codes) {
    const { message, retryAfterSeconds } = statedError(code);
    expect(message, code).toMatch(/^\S.*\.$/);
    if (retryAfterSeconds !== undefined) expect(message, code).toMatch(/[Rr]etry|Send it again/);
  }
});

test('statuses follow from kinds', () => {
  const statuses = {
    api_error: [408, 429, 500, 502, 503],
    authentication_error: [401, 403],
    processing_error: [409, 422],
  };
  for (const code of codes) {
    const { kind, status } = statedError(code);
    expect(
      kind === 'invalid_request_error' ? [400, 404, 405, 409, 410, 413, 415, 422] : statuses[kind],
      code,
    ).toContain(status);
  }
});

test("an answer may add to the list's message", () => {
  expect(errorAnswer('no_account', { parameter: 'currency' }, { token: 'pay_1' })).toEqual({
    statusCode: 409,
    body: {
      success: false,
      errors: [
        {
          code: 'no_account',
          kind: 'processing_error',
          message:
            'No merchant account serves this environment, team and currency. Ask an operator to configure one.',
          parameter: 'currency',
        },
      ],
      token: 'pay_1',
    },
    retryAfterSeconds: undefined,
  });
  expect(errorAnswer('store_unavailable', { retryAfterSeconds: 5 }).retryAfterSeconds).toBe(5);
});
