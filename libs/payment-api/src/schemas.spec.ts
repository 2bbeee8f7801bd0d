import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPaymentRequestSchema, listPaymentsQuerySchema } from './schemas.ts';

const request = {
  product: 'Coffee',
  amount: 450,
  currency: 'EUR',
  callbackUrl: 'https://shop.example/callbacks',
};

/** The faults, as `field: message`. */
const faultsOf = (
  schema: {
    safeParse(value: unknown): { error?: { issues: { path: PropertyKey[]; message: string }[] } | undefined };
  },
  value: unknown,
) => schema.safeParse(value).error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`) ?? [];
const faultsOfRequest = (fields: object) => faultsOf(createPaymentRequestSchema, { ...request, ...fields });

describe('a creation', () => {
  it('needs product, amount, currency and callbackUrl only', () => {
    expect(createPaymentRequestSchema.parse(request)).toEqual(request);
    expect(faultsOf(createPaymentRequestSchema, {})).toEqual([
      'product: is missing',
      'amount: is missing',
      'currency: is missing',
      'callbackUrl: is missing',
    ]);
  });

  it('takes every field of the specification and of the decisions', () => {
    const full = {
      ...request,
      orderNumber: 'order 1',
      redirectSuccessUrl: 'https://shop.example/thanks?order=1#top',
      redirectFailUrl: 'http://localhost:8080/sorry',
      locale: 'de-AT',
      needConfirmation: true,
      recurring: false,
      recurringToken: 'rec-1',
      card: { pan: '4392963203551251', expires: '12/2030', holder: 'A. Holder', cvv: '737' },
      customer: { email: 'a@shop.example', ip: '2001:db8::1' },
    };
    expect(createPaymentRequestSchema.parse(full)).toEqual(full);
  });

  it('takes no unknown field, at no depth', () => {
    expect(faultsOfRequest({ amout: 1 })).toEqual([': Unrecognized key: "amout"']);
    expect(faultsOfRequest({ customer: { name: 'x' } })).toEqual(['customer: Unrecognized key: "name"']);
    expect(faultsOfRequest(JSON.parse('{"__proto__":{"amount":1}}') as object)).toEqual([
      ': Unrecognized key: "__proto__"',
    ]);
  });

  it.each([
    ['product', ''],
    ['product', 'x'.repeat(256)],
    ['orderNumber', ''],
    ['orderNumber', 'x'.repeat(256)],
    ['orderNumber', 17],
    ['recurringToken', ''],
    ['locale', 'german!'],
    ['needConfirmation', 'yes'],
    ['customer', { email: 'nobody' }],
    ['customer', { ip: 'localhost' }],
    ['card', { pan: '4392 9632 0355 1251', expires: '12/2030', holder: 'A', cvv: '737' }],
    ['card', { pan: '4392963203551251', expires: '13/2030', holder: 'A', cvv: '737' }],
    ['card', { pan: '4392963203551251', expires: '12/30', holder: 'A', cvv: '737' }],
    ['card', { pan: '4392963203551251', expires: '12/2030', holder: '', cvv: '737' }],
    ['card', { pan: '4392963203551251', expires: '12/2030', holder: 'A', cvv: '73' }],
  ])('refuses %s %j', (field, value) => {
    const faults = faultsOfRequest({ [field]: value });
    expect(faults.length).toBe(1);
    expect(faults[0]).toMatch(new RegExp(`^${field}[.:]`));
  });

  it('repeats no value in its faults', () => {
    const card = { pan: '4392963203551251x', expires: '12-2030', holder: '', cvv: '73737' };
    const text = faultsOfRequest({ card, product: '4392963203551251'.repeat(20) }).join();
    expect(text).not.toMatch(/4392963203551251|73737|12-2030/);
  });

  it('does not throw for any input', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), (value) => {
        expect(createPaymentRequestSchema.safeParse(value).success).toBe(false);
      }),
    );
  });
});

describe('a URL of a creation', () => {
  const fields = ['callbackUrl', 'redirectSuccessUrl', 'redirectFailUrl'];

  it.each([
    'https://shop.example',
    'http://shop.example:8080/a/b?c=d&e=%20#f',
    'HTTPS://Shop.example/',
    'https://[::1]:8443/x',
    'https://127.0.0.1/x',
    'https://xn--e1afmkfd.example/',
    'https://shop.example/@user/a@b',
  ])('may be %j', (url) => {
    for (const field of fields) expect(faultsOfRequest({ [field]: url })).toEqual([]);
  });

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://shop.example',
    'file:///etc/passwd',
    '//shop.example',
    '/callbacks',
    'https:shop.example',
    'https:/shop.example',
    'https://',
    'https:\\\\shop.example',
    'shop.example',
    '',
    17,
  ])('is no %j', (url) => {
    for (const field of fields)
      expect(faultsOfRequest({ [field]: url })).toEqual([`${field}: must be an http or https URL`]);
  });

  it.each([
    'https://bank.example@evil.example/',
    'https://user:password@shop.example/',
    'https://shop.example\\@evil.example',
    'https://shop.example/a b',
    'https://shop.example/a\u0000',
    'https://shop.example/a\\b',
  ])('is not %j, which is read differently by others', (url) => {
    for (const field of fields)
      expect(faultsOfRequest({ [field]: url })).toEqual([
        `${field}: must be without user name, spaces, backslashes and control characters`,
      ]);
  });

  it('loses line breaks, which would end a header', () => {
    const parsed = createPaymentRequestSchema.parse({
      ...request,
      redirectSuccessUrl: ' https://shop.example/a\r\nb\n',
    });
    expect(parsed.redirectSuccessUrl).toBe('https://shop.example/ab');
  });

  it('has at most 2048 characters', () => {
    const url = (length: number) => `https://shop.example/`.padEnd(length, 'x');
    expect(faultsOfRequest({ callbackUrl: url(2048) })).toEqual([]);
    expect(faultsOfRequest({ callbackUrl: url(2049) })).toEqual([
      'callbackUrl: must be at most 2048 characters',
    ]);
  });
});

describe('the query of a list', () => {
  it('has defaults', () => {
    expect(listPaymentsQuerySchema.parse({})).toEqual({ page: 1, perPage: 20, operationType: 'pays' });
  });

  it('reads numbers from text', () => {
    expect(listPaymentsQuerySchema.parse({ page: '3', perPage: '500' })).toMatchObject({
      page: 3,
      perPage: 500,
    });
  });

  it.each([
    { page: '0' },
    { page: '' },
    { page: 'x' },
    { page: '1.5' },
    { perPage: '501' },
    { perPage: '-1' },
    { dateFrom: '2026-02-30' },
    { dateFrom: '01.02.2026' },
    { operationType: 'refunds' },
    { orderNumber: '' },
    { status: 'approved' },
  ])('refuses %j', (query) => {
    expect(listPaymentsQuerySchema.safeParse(query).success).toBe(false);
  });
});
