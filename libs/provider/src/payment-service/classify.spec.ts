import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCreation } from './answers.ts';
import { classify, type CallResult } from './classify.ts';
import { errorKindByCode } from '@tollgate/payment-api';

const answered = (statusCode: number, body: unknown): CallResult => ({
  kind: 'answered',
  statusCode,
  body: Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
});
const failed = (errors: unknown, statusCode = 400) => answered(statusCode, { success: false, errors });
const classifyCreation = (result: CallResult, secrets: string[] = []) =>
  classify(result, readCreation, secrets);

const token = 'a3f0'.repeat(8);
const statusCodes = [200, 201, 400, 401, 403, 404, 409, 422, 500, 502, 503];

const certain = [
  { kind: 'authentication_error', code: 'incorrect_private_key' },
  { kind: 'authentication_error', code: 'some_code_of_theirs' },
  { kind: 'invalid_request_error', code: 'invalid_param' },
  { kind: 'invalid_request_error', code: 'amount_less_than_minimum' },
  { kind: 'settings_error', code: 'currency_not_enabled' },
  { kind: 'processing_error', code: 'payment_in_final_state' },
  { kind: 'processing_error', code: 'order_number_already_exists' },
  { kind: 'processing_error', code: 'payment_not_found' },
  { kind: 'processing_error', code: 'some_code_of_theirs' },
];
const uncertain = [
  { kind: 'api_error', code: 'core_api_error', reason: 'api_error core_api_error' },
  { kind: 'api_error', code: 'invalid_param', reason: 'api_error invalid_param' },
  { kind: 'gateway_error', code: 'timeout_at_bank', reason: 'gateway_error unknown code' },
  { kind: 'http_error', code: 'bad_gateway', reason: 'http_error unknown code' },
  { kind: 'processing_error', code: 'core_api_error', reason: 'processing_error core_api_error' },
  { kind: 'brand_new_error', code: 'x', reason: 'unknown kind unknown code' },
  { kind: 'invalid_request_error', code: 'core_api_error', reason: 'invalid_request_error core_api_error' },
  { kind: 'invalid_request_error', code: 'api_error', reason: 'invalid_request_error unknown code' },
];
/** The shapes in which deployments return one error. */
const shapes = {
  'a list of objects': (error: object) => [error],
  'one object': (error: object) => error,
};

describe('a refusal', () => {
  for (const [shape, write] of Object.entries(shapes)) {
    it.each(certain)(`is certain for $kind $code in ${shape}, whatever the status`, ({ kind, code }) => {
      for (const statusCode of statusCodes)
        expect(classifyCreation(failed(write({ kind, code }), statusCode))).toEqual({
          kind: 'refused',
          errors: [{ kind, code }],
        });
    });

    it.each(uncertain)(
      `is not certain for $kind $code in ${shape}, whatever the status`,
      ({ kind, code, reason }) => {
        for (const statusCode of statusCodes)
          expect(classifyCreation(failed(write({ kind, code }), statusCode))).toEqual({
            kind: 'unknown',
            reason,
          });
      },
    );
  }

  it.each(Object.entries(errorKindByCode))('given as the text %s has the kind %s', (code, kind) => {
    for (const errors of [code, [code]]) {
      const outcome = classifyCreation(failed(errors, 403));
      if (kind === 'api_error') expect(outcome).toEqual({ kind: 'unknown', reason: `api_error ${code}` });
      else expect(outcome).toEqual({ kind: 'refused', errors: [{ code, kind }] });
    }
  });

  it.each([
    ['authentication_error', 'refused'],
    ['invalid_request_error', 'refused'],
    ['settings_error', 'refused'],
    ['processing_error', 'refused'],
    ['api_error', 'unknown'],
    ['gateway_error', 'unknown'],
    ['Something went wrong', 'unknown'],
  ])('given as the kind alone, %s, is %s', (kind, outcome) => {
    for (const errors of [kind, [kind], { kind }, [{ kind }], [{ kind, code: 17 }]])
      expect(classifyCreation(failed(errors)).kind).toBe(outcome);
  });

  it('is not certain if one error of several is not', () => {
    expect(classifyCreation(failed([certain[0], uncertain[0]]))).toEqual({
      kind: 'unknown',
      reason: 'api_error core_api_error',
    });
    expect(classifyCreation(failed([certain[0], 'free text'])).kind).toBe('unknown');
    for (const nothing of [17, null, [], {}, ''])
      expect(classifyCreation(failed([certain[0], nothing])).kind).toBe('unknown');
    expect(classifyCreation(failed([certain[0], certain[1]])).kind).toBe('refused');
  });

  it.each([[undefined], [null], [[]], [{}], [''], [false]])(
    'without a readable error (%j) is unknown',
    (errors) => {
      expect(classifyCreation(failed(errors, 400))).toEqual({
        kind: 'unknown',
        reason: 'http 400 without readable errors',
      });
    },
  );

  it('may leave out success, and may write null for empty fields', () => {
    const errors = [{ ...certain[0], message: null, parameter: null }];
    for (const body of [{ errors }, { success: null, errors, token: null, payment: null }])
      expect(classifyCreation(answered(403, body))).toEqual({ kind: 'refused', errors: [certain[0]] });
  });

  it.each([
    ['token', token],
    ['payment', { token, status: 'declined' }],
    ['refund', { token, status: 'declined' }],
    ['payout', { token, status: 'declined' }],
  ])('that has a %s is unknown, because it may have created one', (field, value) => {
    expect(classifyCreation(answered(400, { success: false, errors: [certain[2]], [field]: value }))).toEqual(
      { kind: 'unknown', reason: `refusal with a ${field}` },
    );
  });

  it('repeats neither a secret of the request nor any card number', () => {
    const key = 'sk_sandbox_0123456789';
    const secrets = [key, '4392963203551251', '737'];
    for (const leak of [`key ${key}`, 'cvv 737', 'pan 4392963203551251']) {
      const error = { kind: 'settings_error', code: leak, message: leak, parameter: leak };
      expect(classifyCreation(failed([error]), secrets)).toEqual({
        kind: 'refused',
        errors: [{ kind: 'settings_error', code: 'settings_error' }],
      });
    }
  });

  it('masks a card number that is not of the request', () => {
    const leak = 'also 4730 1983 6468 8516';
    expect(
      classifyCreation(failed([{ kind: 'settings_error', code: leak, message: leak, parameter: leak }])),
    ).toEqual({
      kind: 'refused',
      errors: [{ kind: 'settings_error', code: 'settings_error', message: 'also 473019******8516' }],
    });
  });
});

// Too many requests were mistaken for a lost answer: a service that was busy for a moment sent card payments to a review.
describe('a call that the service did not execute', () => {
  it.each([
    ['an error', { success: false, errors: [{ kind: 'api_error', code: 'rate_limited' }] }],
    ['a certain refusal', { success: false, errors: [certain[2]] }],
    ['no error', { success: false }],
    ['a page', '<html>429 Too Many Requests</html>'],
    ['nothing', ''],
  ])('counts as not sent: 429 with %s', (_name, body) => {
    expect(classifyCreation(answered(429, body))).toEqual({
      kind: 'not-sent',
      reason: 'http 429',
      isAnswered: true,
    });
  });

  it.each([
    ['a token', { success: false, errors: [certain[2]], token }],
    ['a payment', { success: false, payment: { token } }],
    ['success', { success: true }],
    ['success and a token', { success: true, token }],
    ['JSON cut short within a payment', '{"success":false,"payment":{"id":"abc'],
  ])('is not proven by 429 with %s', (_name, body) => {
    expect(classifyCreation(answered(429, body)).kind).toBe('unknown');
  });
});

describe('an acceptance', () => {
  const answer = {
    success: true,
    token,
    processingUrl: 'https://pay.example/p/1',
    payment: { status: 'init' },
  };

  it('is a success with a token', () => {
    expect(classifyCreation(answered(200, answer))).toEqual({ kind: 'accepted', answer });
    expect(classifyCreation(answered(201, { success: true, token, errors: [] })).kind).toBe('accepted');
    expect(classifyCreation(answered(200, `\u{feff}${JSON.stringify(answer)}`)).kind).toBe('accepted');
  });

  it.each([
    [{ success: true }],
    [{ success: true, token: '' }],
    [{ success: true, token: null }],
    [{ success: true, token: 17 }],
    [{ ...answer, processingUrl: 'javascript:alert(1)' }],
    [{ ...answer, processingUrl: 'http://pay.example/p/1' }],
    [{ ...answer, payment: 'init' }],
  ])('is not proven by %j', (body) => {
    expect(classifyCreation(answered(200, body))).toEqual({
      kind: 'unknown',
      reason: 'success without a readable token and payment',
    });
  });

  it.each([400, 401, 403, 404, 409, 500, 502, 503])(
    'is not proven with the error status %d',
    (statusCode) => {
      expect(classifyCreation(answered(statusCode, answer))).toEqual({
        kind: 'unknown',
        reason: `success with http ${statusCode}`,
      });
    },
  );

  it('is not proven next to errors', () => {
    for (const errors of [[certain[0]], 'text', certain[0]])
      expect(classifyCreation(answered(200, { ...answer, errors }))).toEqual({
        kind: 'unknown',
        reason: 'success with errors',
      });
  });

  it('keeps a token that happens to contain the digits of the CVV', () => {
    expect(classifyCreation(answered(200, { success: true, token: 'a737b' }), ['737'])).toMatchObject({
      answer: { token: 'a737b' },
    });
  });

  it('hands on no key that could become a prototype', () => {
    const text =
      '{"success":true,"token":"t","__proto__":{"payment":1},"further":{"__proto__":{"a":1},"b":2}}';
    const outcome = classifyCreation(answered(200, text));
    expect(JSON.stringify(outcome)).toBe(
      '{"kind":"accepted","answer":{"success":true,"token":"t","further":{"b":2}}}',
    );
  });
});

describe('an unreadable answer', () => {
  it.each([
    ['nothing', ''],
    ['a page', '<html>502 Bad Gateway</html>'],
    ['JSON cut short', '{"success":true,"token":"abc'],
    // Decoded with U+FFFD for each invalid byte, two tokens of the service were equal.
    ['bytes of ISO 8859-1', Buffer.from('{"success":true,"token":"sch\u00f6n"}', 'latin1')],
    ['a list', [{ success: true, token }]],
    ['a text', '"ok"'],
    ['null', 'null'],
    ['another type of success', { success: 'true', token }],
    ['a number as success', { success: 1, token }],
    ['deep nesting', `{"success":true,"token":"t","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ])('is unknown: %s', (_name, body) => {
    for (const statusCode of [200, 400, 502])
      expect(classifyCreation(answered(statusCode, body))).toEqual({
        kind: 'unknown',
        reason: `http ${statusCode} without a readable body`,
      });
  });

  it('is unknown: a redirect with any body', () => {
    for (const body of [{ success: true, token }, { success: false, errors: [certain[0]] }, ''])
      expect(classifyCreation(answered(302, body))).toEqual({ kind: 'unknown', reason: 'http 302 redirect' });
  });
});

describe('a failure', () => {
  it.each([
    ['ENOTFOUND', 'ENOTFOUND'],
    ['ECONNREFUSED', 'ECONNREFUSED'],
    ['UND_ERR_CONNECT_TIMEOUT', 'connect timeout'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['ECONNRESET', 'connection reset'],
    ['DEADLINE', 'timeout'],
    ['UND_ERR_CLOSED', 'client closed'],
    ['', 'unnamed failure'],
    ['a message that names https://user:pw@host', 'unnamed failure'],
  ])('with the code %j reads: %s', (code, reason) => {
    expect(classifyCreation({ kind: 'failed', sent: false, code })).toEqual({ kind: 'not-sent', reason });
    expect(classifyCreation({ kind: 'failed', sent: true, code })).toEqual({ kind: 'unknown', reason });
  });
});

describe('any answer', () => {
  const words = fc.constantFrom(
    ...Object.keys(errorKindByCode),
    ...certain.map((error) => error.kind),
    ...['api_error', 'x'],
  );
  const wordOrJson = fc.oneof({ arbitrary: words, weight: 3 }, fc.jsonValue());
  const entry = fc.oneof(
    fc.record({ code: wordOrJson, kind: wordOrJson }, { requiredKeys: [] }),
    fc.constantFrom(...certain),
    wordOrJson,
  );
  const likelyBody = fc.record(
    {
      success: fc.oneof({ arbitrary: fc.boolean(), weight: 4 }, fc.jsonValue()),
      token: fc.oneof({ arbitrary: fc.constantFrom(token, '', null), weight: 4 }, fc.jsonValue()),
      payment: fc.jsonValue(),
      errors: fc.oneof(entry, fc.array(entry, { maxLength: 3 })),
    },
    { requiredKeys: ['success'] },
  );
  const written = (body: unknown) => new TextEncoder().encode(JSON.stringify(body));
  const bytes = fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.jsonValue().map(written), {
    arbitrary: likelyBody.map(written),
    weight: 6,
  });
  const statusCode = fc.oneof(
    fc.constant(200),
    fc.constantFrom(...statusCodes, 429),
    fc.integer({ min: 100, max: 999 }),
  );

  it('is classified: an acceptance has a token, a refusal certain errors, a reason a closed form', () => {
    const kinds = new Set<string>();
    const property = fc.property(statusCode, bytes, (status, body) => {
      const outcome = classifyCreation({ kind: 'answered', statusCode: status, body });
      kinds.add(outcome.kind);
      if (outcome.kind === 'accepted') expect(outcome.answer.token.length).toBeGreaterThan(0);
      if (outcome.kind === 'unknown') expect(outcome.reason).toMatch(/^[A-Za-z0-9_ ]{4,80}$/);
      if (outcome.kind !== 'refused') return;
      expect(outcome.errors.length).toBeGreaterThan(0);
      for (const error of outcome.errors) expect(Object.values(error)).not.toContain('api_error');
    });
    fc.assert(property, { numRuns: 2_000 });
    expect([...kinds].sort()).toEqual(['accepted', 'not-sent', 'refused', 'unknown']);
  });

  it('an error of the service among the errors is never a refusal', () => {
    const some = fc.array(fc.constantFrom(...certain), { maxLength: 3 });
    const apiError = fc.record({ kind: fc.constant('api_error'), code: fc.oneof(words, fc.string()) });
    fc.assert(
      fc.property(some, apiError, some, statusCode, (before, error, after, status) => {
        const { kind } = classifyCreation(failed([...before, error, ...after], status));
        expect(kind).toBe(status === 429 ? 'not-sent' : 'unknown');
      }),
    );
  });
});
