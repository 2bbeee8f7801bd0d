import { describe, expect, it } from 'vitest';
import { createOpenApiDocument, errorCodesOf, operations } from './openapi.ts';
import { bodyFields } from './fields.ts';
import { paymentListSchema } from './queries.ts';
import { apiErrors, errorPage } from './errors.ts';
import { bodySchemas } from './requests.ts';

const document = createOpenApiDocument();

/** Every object of the document, with its path. */
function walk(
  value: unknown,
  path: string,
  visit: (node: Record<string, unknown>, path: string) => void,
): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) visit(value as Record<string, unknown>, path);
  for (const [name, child] of Object.entries(value)) walk(child, `${path}/${name}`, visit);
}

/** Written by hand, because a wrong scope in a route grants access that was never decided. */
const callsByScopes: readonly (readonly [scopes: string, calls: string])[] = [
  ['none', 'tellHealth tellReadiness tellInterface'],
  ['payments', 'createPayment confirmPayment declinePayment'],
  ['refunds', 'refundPayment'],
  ['payouts', 'createPayout'],
  ['approvals', 'approvePayout refusePayout checkPayoutDestination'],
  ['admin', 'listReconciliations retrieveReconciliation exportReconciliation'],
  ['read', 'listRequests retrieveRequest listEvents'],
  ['read,payments', 'listPayments exportPayments retrievePayment listPaymentEvents listTotals'],
  ['read,payments', 'listNewestDisputes listDisputes exportDisputes retrieveDispute'],
  ['read,payouts', 'listJournal exportJournal listStatements exportStatements'],
  ['read,admin', 'listWebhookEndpoints retrieveWebhookEndpoint listWebhooks'],
  ['read,refunds,payments', 'listRefunds exportRefunds retrieveRefund'],
  ['read,payouts,approvals', 'listPayouts retrievePayout listPayoutEvents'],
  ['read,payments,payouts', 'retrieveBalance'],
  ['read,payments,admin', 'listReviews'],
  [
    'admin,operators:teams',
    'resolveReview createWebhookEndpoint changeWebhookEndpoint removeWebhookEndpoint',
  ],
  ['admin,operators:teams', 'rotateWebhookEndpointSecret testWebhookEndpoint'],
  ['payments,payouts,admin,operators:teams', 'replayWebhooks'],
  ['operators:read', 'listPaymentsOfAll exportPaymentsOfAll retrievePaymentOfAny listPaymentEventsOfAny'],
  ['operators:read', 'listPayoutsOfAll retrievePayoutOfAny listPayoutEventsOfAny'],
  ['operators:read', 'listRefundsOfAll exportRefundsOfAll listDisputesOfAll exportDisputesOfAll'],
  ['operators:read', 'listJournalOfAll exportJournalOfAll listStatementsOfAll exportStatementsOfAll'],
  ['operators:read', 'listBalancesOfAll listReconciliationsOfAll retrieveReconciliationOfAny'],
  ['operators:read', 'listWebhooksOfAll listDisabledEndpoints listSecurityLog listReviewsOfAll'],
  ['operators:read', 'showOverview searchAll countOutcomes listTeamNames retrieveTeam listKeysOfAll'],
  ['operators:read', 'listSavedViews saveView removeView listAccountHealth retrieveAccountBalance'],
  ['operators:act', 'inquirePayment requestReconciliation replayWebhooksOfAll'],
  ['operators:manage', 'transferMoney listCredentials revokeCredentials'],
  ['operators:manage', 'addTeam allowOrigins chooseWallet requireApproval limitMoney'],
  ['operators:accounts', 'pauseAccount drainAccount resumeAccount reloadAccounts'],
  ['operators:teams', 'issueKey revokeKey'],
  ['sign-in', 'signIn'],
  ['self', 'showMe revokeOwnCredentials'],
];

describe('the OpenAPI document', () => {
  it('is JSON of version 3.1, and its references lead somewhere', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
    expect(document.openapi).toBe('3.1.0');
    const names = Object.entries(document.components).flatMap(([kind, each]) =>
      Object.keys(each).map((name) => `#/components/${kind}/${name}`),
    );
    walk(document, '', ({ $ref }, path) => {
      if ($ref !== undefined) expect(names, path).toContain($ref);
    });
  });

  it('describes webhooks, with the headers for verification', () => {
    expect(Object.keys(document.webhooks)).toEqual(['payment', 'refund', 'payout', 'dispute', 'test']);
    const { post } = document.webhooks['refund'] as { post: { parameters: { name: string }[] } };
    expect(post.parameters.map(({ name }) => name)).toEqual([
      ...['webhook-id', 'webhook-timestamp', 'webhook-signature'],
      ...['Tollgate-Sequence', 'Tollgate-Event-Time', 'Tollgate-Correlation-Id'],
    ]);
    expect(Object.keys(document.components.schemas['WebhookBody']?.['properties'] ?? {})).toEqual(
      expect.arrayContaining(['paymentToken', 'sequence', 'occurredAt']),
    );
  });

  it('names every call once', () => {
    const calls = operations.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(calls).size).toBe(calls.length);
  });

  it('describes every field of a body and every query parameter', () => {
    for (const name of Object.keys(bodySchemas))
      walk(document.components.schemas[name], name, ({ properties }, path) => {
        for (const [field, schema] of Object.entries(properties ?? {}))
          expect((schema as { description?: string }).description, `${path}.${field}`).toBe(
            bodyFields[field],
          );
      });
    for (const { parameters } of Object.values(document.paths).flatMap((calls) => Object.values(calls)))
      for (const { name, in: place, description } of parameters as {
        name: string;
        in: string;
        description: string;
      }[])
        if (place !== 'path') expect(description, name).not.toBe('');
  });

  it('lists every field of a body that the route accepts, and closes bodies as the route does', () => {
    expect(Object.keys(document.components.schemas['PaymentRequest']?.['properties'] ?? {})).toEqual(
      Object.keys(bodySchemas.PaymentRequest.shape),
    );
    expect(document.components.schemas['PaymentRequest']).toMatchObject({
      required: ['product', 'amount', 'currency'],
      additionalProperties: false,
    });
    expect(document.components.schemas['Payment']).not.toHaveProperty('additionalProperties');
  });

  it.each(
    operations
      .filter(({ body }) => body !== undefined)
      .map((operation) => [operation.id, operation] as const),
  )('has an example for %s that its route accepts', (_, { body }) => {
    expect(body && bodySchemas[body.schema].safeParse(body.example).success).toBe(true);
  });

  // The front door answers so for any of them.
  it('documents for every call of the API that its service may be unavailable', () => {
    for (const { id, path, method } of operations.filter(({ scopes: asked }) => asked !== undefined))
      expect(document.paths[path]?.[method]?.['responses'], id).toMatchObject({
        503: {
          headers: { 'Retry-After': {} },
          description: expect.stringMatching(/`service_unavailable`.*`answer_lost`/),
        },
      });
  });

  it('has every error code but those of any address, for the Payment Service and between services', () => {
    const stated = new Set<string>(operations.flatMap((each) => Object.values(errorCodesOf(each)).flat()));
    const missing = Object.keys(apiErrors).filter((code) => !stated.has(code));
    expect(missing.toSorted()).toEqual([
      ...['bus_unavailable', 'callback_address_ended', 'https_required', 'internal_only'],
      ...['method_not_allowed', 'path_not_found', 'too_many_callbacks'],
    ]);
  });

  // All of them stood before the first call: readers of /docs had to scroll a long way down to reach it.
  it('begins with the calls, and leads to the codes', () => {
    expect(document.info.description).toContain(`](${errorPage})`);
    expect(document.info.description.split('\n').length).toBeLessThan(30);
  });

  it('writes the parameters of queries as they are sent', () => {
    const { parameters } = document.paths['/api/v1/payments']?.['get'] as { parameters: { name: string }[] };
    const named = Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter]));
    expect(Object.keys(named).sort()).toEqual(
      [...Object.keys(paymentListSchema.shape), 'Tollgate-Min-Position'].sort(),
    );
    expect(named['perPage']).toMatchObject({ schema: { type: 'integer', maximum: 500 }, required: false });
    expect(named['withTotal']).toMatchObject({ schema: { enum: ['true', 'false'] } });
    expect(document.paths['/api/v1/balance']?.['get']).toMatchObject({
      parameters: [{ name: 'currency', required: true, schema: { pattern: '^[A-Z]{3}$' } }],
    });
  });

  // Schemathesis sent requests that the document allowed and the routes refused.
  it('documents refusals that only a function detects', () => {
    const { PaymentRequest, PayoutRequest, WebhookEndpointRequest } = document.components.schemas as Record<
      string,
      { properties: Record<string, { pattern: string; properties: Record<string, { pattern: string }> }> }
    >;
    const product = new RegExp(PaymentRequest!.properties['product']!.pattern);
    for (const invisible of ['a\u0000b', 'a\nb', 'a\u202eb', '\u2028'])
      expect(product.test(invisible), JSON.stringify(invisible)).toBe(false);
    for (const visible of ['Tea', 'Grüner Tee', '茶', '🍵']) expect(product.test(visible)).toBe(true);
    expect(PaymentRequest!.properties).toMatchObject({
      metadata: {
        maxProperties: 50,
        propertyNames: { pattern: '^[A-Za-z0-9_.-]{1,40}$' },
        additionalProperties: { type: 'string', maxLength: 500, pattern: expect.any(String) },
      },
      customer: { properties: { email: { format: 'email', pattern: expect.any(String) } } },
    });
    expect(PayoutRequest!.properties['destination']).toMatchObject({ minProperties: 1, maxProperties: 1 });
    expect(WebhookEndpointRequest!.properties['events']).toMatchObject({ uniqueItems: true });
  });

  it('documents for every call that it may be unreadable, or too long', () => {
    for (const { id, path, method } of operations)
      expect(document.paths[path]?.[method]?.['responses'], id).toMatchObject({ 400: {}, 431: {} });
  });

  it('requires for every call exactly the scopes that were decided for it', () => {
    const decided = callsByScopes.flatMap(([asked, calls]) => calls.split(' ').map((id) => [id, asked]));
    const stated = operations.map(({ id, scopes: asked }) => [id, asked?.join() ?? 'none']);
    expect(Object.fromEntries(stated)).toEqual(Object.fromEntries(decided));
  });
});
