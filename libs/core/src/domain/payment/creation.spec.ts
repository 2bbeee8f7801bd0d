import { scenario } from '@tollgate/testing';
import { describe, expect, test } from 'vitest';
import {
  apiError,
  attempt,
  decided,
  historyTo,
  inquired,
  observed,
  paymentDomain,
  requested,
  requestPayment,
  sampleEvents,
  terms,
  types,
} from '../testing/samples.ts';
import type { AuthorizationOutcome, RecordAuthorizationOutcome, RecordSearch } from './payment-commands.ts';
import type { Attempt, ReviewCode, PaymentEvent, PaymentTerms } from './payment-events.ts';
import { callRules } from '../outbound-call/outbound-call.ts';
import { paymentPhases } from './payment-machine.ts';

const { given } = scenario(paymentDomain);

const opened = (code: ReviewCode, evidence: object = {}): PaymentEvent => ({
  type: 'ReviewOpened',
  data: { code, evidence: expect.objectContaining(evidence) },
});

const accepted: AuthorizationOutcome = {
  kind: 'accepted',
  serviceToken: 'token-a',
  processingUrl: 'https://pay.example/a',
};
const refusedFor = (...kinds: string[]): AuthorizationOutcome => ({
  kind: 'refused',
  errors: kinds.map((kind) => apiError(kind)),
});
const notSent: AuthorizationOutcome = { kind: 'not-sent', reason: 'connection refused' };
const unknown: AuthorizationOutcome = { kind: 'unknown', reason: 'timeout' };

const answer = (
  outcome: AuthorizationOutcome,
  { attemptNumber = 1, nextAttempt }: { attemptNumber?: number; nextAttempt?: Attempt } = {},
): RecordAuthorizationOutcome => ({
  type: 'RecordAuthorizationOutcome',
  attemptNumber,
  outcome,
  ...(nextAttempt === undefined ? {} : { nextAttempt }),
});

const { answerBy, quietUntil } = attempt(1);

const inquiry = (inquiredAt: number, changes: Partial<RecordSearch> = {}): RecordSearch => ({
  type: 'RecordSearch',
  attemptNumber: 1,
  found: [],
  inquiredAt,
  ...changes,
});

const failed = (reason: 'refused' | 'not-sent' | 'not-found'): PaymentEvent => ({
  type: 'PaymentFailed',
  data: { reason },
});
const started = (number: number): PaymentEvent => ({
  type: 'AttemptStarted',
  data: { attempt: attempt(number) },
});

// --- Request

test('a request is recorded with its terms and its first attempt, in one event', () => {
  const { environment, team, fingerprint } = requestPayment();
  given([])
    .when(requestPayment())
    .then([
      {
        type: 'PaymentRequested',
        data: {
          environment,
          team,
          wallet: 'team-shop',
          askedBy: 'key-1',
          terms,
          fingerprint,
          attempt: attempt(1),
        },
      },
    ]);
});

test.each(paymentPhases)('in phase %s the same request again writes nothing', (phase) => {
  const laterAttempt = { attempt: attempt(1, { sendBy: 5_000_000 }) };
  given(historyTo[phase]).when(requestPayment(laterAttempt)).thenNothing();
});

test.each(paymentPhases)('in phase %s a request under the same key with other terms is refused', (phase) => {
  given(historyTo[phase])
    .when(requestPayment({ fingerprint: 'other' }))
    .thenRefused('idempotency_key_reused');
});

test('observations of a payment that was never requested write nothing', () => {
  given([]).when(answer(accepted)).thenNothing();
  given([]).when(inquiry(quietUntil)).thenNothing();
  given([])
    .when(inquired(observed('approved')))
    .thenNothing();
  given([]).when({ type: 'RecordMissing', serviceToken: 'token-a', inquiredAt: 0 }).thenNothing();
});

// --- The answer to the call

test('an accepted call gives the payment its token and its page', () => {
  given([requested()]).when(answer(accepted)).then([sampleEvents.AttemptAccepted]);
});

test('an accepted call without a page gives none', () => {
  given([requested()])
    .when(answer({ kind: 'accepted', serviceToken: 'token-a' }))
    .then([
      { type: 'AttemptAccepted', data: { attemptNumber: 1, serviceToken: 'token-a', evidence: 'answer' } },
    ]);
});

test('an answer with the requested terms changes nothing', () => {
  const outcome: AuthorizationOutcome = { ...accepted, amount: 1000, currency: 'EUR' };
  expect(types(decided([requested()], answer(outcome)))).toEqual(['AttemptAccepted']);
});

test.each(['processing_error', 'invalid_request_error', 'gateway_error'])(
  'a payment that is refused with %s has failed, further attempt or not',
  (kind) => {
    const events: PaymentEvent[] = [
      { type: 'AttemptRefused', data: { attemptNumber: 1, errors: [apiError(kind)] } },
      failed('refused'),
    ];
    for (const more of [{}, { nextAttempt: attempt(2) }])
      given([requested()])
        .when(answer(refusedFor(kind), more))
        .then(events);
  },
);

test('if the account is refused, and not the request, another attempt follows, if one is left', () => {
  const errors = [apiError('processing_error'), apiError('settings_error')];
  const outcome: AuthorizationOutcome = { kind: 'refused', errors, isAccountRefused: true };
  const attemptRefused: PaymentEvent = { type: 'AttemptRefused', data: { attemptNumber: 1, errors } };
  given([requested()])
    .when(answer(outcome))
    .then([attemptRefused, failed('refused')]);
  given([requested()])
    .when(answer(outcome, { nextAttempt: attempt(2) }))
    .then([attemptRefused, started(2)]);
});

test.each(['hosted', 'card', 'recurring'] as const)(
  'a call of a %s payment that was not sent is followed by another attempt, if one is left',
  (kind) => {
    const attemptNotSent = sampleEvents.AttemptNotSent;
    given([requested({ kind })])
      .when(answer(notSent))
      .then([attemptNotSent, failed('not-sent')]);
    given([requested({ kind })])
      .when(answer(notSent, { nextAttempt: attempt(2) }))
      .then([attemptNotSent, started(2)]);
  },
);

test.each(['card', 'recurring'] as const)(
  'a call of a %s payment without a known outcome is unresolved: never failed, never attempted again',
  (kind) => {
    for (const more of [{}, { nextAttempt: attempt(2) }])
      given([requested({ kind })])
        .when(answer(unknown, more))
        .then([sampleEvents.AttemptUnresolved]);
  },
);

test('attempts are bounded, for any reasons', () => {
  expect(callRules.authorize.attemptsMax).toBe(3);
  const third = [requested(), sampleEvents.AttemptNotSent, started(2), sampleEvents.AttemptNotSent];
  const nextAttempt = attempt(4);
  const outcome = { attemptNumber: 3, nextAttempt };
  expect(types(decided([...third, started(3)], answer(notSent, outcome)))).toEqual([
    'AttemptNotSent',
    'PaymentFailed',
  ]);
  expect(types(decided([...third, started(3)], answer(refusedFor('settings_error'), outcome)))).toEqual([
    'AttemptRefused',
    'PaymentFailed',
  ]);
  const { quietUntil: inquiredAt } = attempt(3);
  expect(types(decided([...third, started(3)], inquiry(inquiredAt, outcome)))).toEqual([
    'AttemptUnresolved',
    'AttemptNotFound',
    'PaymentFailed',
  ]);
});

test('the last attempt is a complete one', () => {
  const second = [requested(), sampleEvents.AttemptNotSent, started(2)];
  expect(decided(second, answer(notSent, { attemptNumber: 2, nextAttempt: attempt(3) })).at(-1)).toEqual(
    started(3),
  );
});

// Untrusted texts and lists were once stored whole, and an event over the limits could not be read back.
test('long texts of an answer are cut', () => {
  const reason = 'x'.repeat(10_000);
  const errors = Array.from({ length: 80 }, () => apiError('processing_error'));
  const cut = { attemptNumber: 1, reason: 'x'.repeat(4096) };
  expect(decided([requested()], answer({ kind: 'unknown', reason }))[0]?.data).toEqual(cut);
  expect(decided([requested()], answer({ kind: 'not-sent', reason }))[0]?.data).toEqual(cut);
  expect(decided([requested()], answer({ kind: 'refused', errors }))[0]?.data).toEqual({
    attemptNumber: 1,
    errors: errors.slice(0, 50),
  });
});

// --- Late answers

test('a late answer counts if the attempt is still unresolved', () => {
  given(historyTo.unresolved).when(answer(accepted)).then([sampleEvents.AttemptAccepted]);
});

test('after a faster inquiry, the answer with the same token changes nothing', () => {
  given(historyTo.init).when(answer(accepted)).thenNothing();
  given(historyTo.approved).when(answer(accepted)).thenNothing();
});

// A refusal that arrived after an inquiry once left its attempt open: inquired without result, and never attempted again.
test('a late refusal, and a late "not sent", end an attempt that is still unresolved', () => {
  const errors = [apiError('processing_error')];
  const attemptRefused: PaymentEvent = { type: 'AttemptRefused', data: { attemptNumber: 1, errors } };
  given(historyTo.unresolved)
    .when(answer(refusedFor('processing_error'), { nextAttempt: attempt(2) }))
    .then([attemptRefused, failed('refused')]);
  given(historyTo.unresolved)
    .when(answer(notSent))
    .then([sampleEvents.AttemptNotSent, failed('not-sent')]);
  given(historyTo.unresolved)
    .when(answer(notSent, { nextAttempt: attempt(2) }))
    .then([sampleEvents.AttemptNotSent, started(2)]);
});

test('a lost answer changes nothing if an inquiry has abandoned the attempt', () => {
  given(historyTo.unresolved).when(answer(unknown)).thenNothing();
});

test.each(paymentPhases.filter((phase) => phase !== 'requested' && phase !== 'unresolved'))(
  'in phase %s a late answer without a payment changes nothing',
  (phase) => {
    const nextAttempt = attempt(2);
    for (const outcome of [refusedFor('processing_error'), refusedFor('settings_error'), notSent, unknown])
      given(historyTo[phase]).when(answer(outcome, { nextAttempt })).thenNothing();
  },
);

const secondAttempt = [...historyTo.unresolved, sampleEvents.AttemptNotFound, started(2)];

test('a late answer of a past attempt without a payment changes nothing', () => {
  for (const outcome of [refusedFor('settings_error'), notSent, unknown])
    given(secondAttempt)
      .when(answer(outcome, { nextAttempt: attempt(2) }))
      .thenNothing();
});

// --- Inquiries about an attempt

test('while the caller may still wait for the answer, an inquiry has no effect', () => {
  for (const search of [{}, { found: [observed('init')] }, { nextAttempt: attempt(2) }])
    given([requested()])
      .when(inquiry(answerBy - 1, search))
      .thenNothing();
});

test('a crash before any recorded outcome leaves a charge unresolved once its answer is late', () => {
  given([requested({ kind: 'card' })])
    .when(inquiry(answerBy))
    .then([{ type: 'AttemptUnresolved', data: { attemptNumber: 1, reason: 'no outcome was recorded' } }]);
});

test('an inquiry that finds the payment accepts it with its status and amounts', () => {
  const found = [observed('approved', { processingUrl: 'https://pay.example/a' })];
  const acceptance = { ...sampleEvents.AttemptAccepted.data, evidence: 'inquiry' as const };
  const events: PaymentEvent[] = [
    { type: 'AttemptAccepted', data: acceptance },
    { type: 'PaymentApproved', data: { amount: 1000 } },
  ];
  given(historyTo.unresolved).when(inquiry(0, { found })).then(events);
  given([requested()])
    .when(inquiry(answerBy, { found }))
    .then([
      { type: 'AttemptUnresolved', data: { attemptNumber: 1, reason: 'no outcome was recorded' } },
      ...events,
    ]);
});

test('a payment found after the quiet period is still accepted', () => {
  const found = [observed('init')];
  expect(types(decided(historyTo.unresolved, inquiry(quietUntil * 10, { found })))).toEqual([
    'AttemptAccepted',
  ]);
});

test('a payment found with other terms is accepted without booking, and opens a review', () => {
  const found = [observed('approved', { amount: 1 })];
  expect(types(decided(historyTo.unresolved, inquiry(0, { found })))).toEqual([
    'AttemptAccepted',
    'ReviewOpened',
  ]);
});

test('one payment that is listed twice is one payment', () => {
  const found = [observed('init'), observed('init')];
  expect(types(decided(historyTo.unresolved, inquiry(0, { found })))).toEqual(['AttemptAccepted']);
});

test('a provider that omits the order number is believed', () => {
  const { orderNumber: _, ...withoutNumber } = observed('init');
  expect(types(decided(historyTo.unresolved, inquiry(0, { found: [withoutNumber] })))).toEqual([
    'AttemptAccepted',
  ]);
});

// A lost answer was found by its number alone: with a new store, or another installation on the same account, a much older
// payment was mistaken for ours, and was `approved` without a charge.
describe('a payment under our number that the attempt cannot have made', () => {
  const oldest = attempt(1).sendBy - 300_000;
  const strangers = [{ createdAt: oldest - 1 }, { createdAt: oldest, hasOurCallback: false }];
  const approvedAs = (origin: object, serviceToken = 'token-x') =>
    observed('approved', { serviceToken, ...origin });

  test.each(strangers)('is not accepted: %j', (origin) => {
    for (const kind of ['hosted', 'card', 'recurring'] as const) {
      const history = [requested({ kind }), sampleEvents.AttemptUnresolved];
      const search = { found: [approvedAs(origin)], nextAttempt: attempt(2) };
      given(history)
        .when(inquiry(quietUntil, search))
        .then([
          opened('attempt_not_found', {
            attemptNumber: 1,
            observedServiceToken: 'token-x',
            observedCreatedAt: origin.createdAt,
            hasOurCallback: origin.hasOurCallback ?? null,
          }),
        ]);
    }
  });

  test.each([{}, { createdAt: oldest }, { hasOurCallback: true }])(
    'is not one without contrary evidence: %j',
    (origin) => {
      expect(
        types(decided(historyTo.unresolved, inquiry(quietUntil, { found: [approvedAs(origin)] }))),
      ).toEqual(['AttemptAccepted', 'PaymentApproved']);
    },
  );
});

test('the right payment is chosen among others', () => {
  const foreign = observed('approved', { serviceToken: 'token-x', orderNumber: 'pay_2.1' });
  given(historyTo.unresolved)
    .when(inquiry(0, { found: [foreign, observed('init')] }))
    .then([
      { type: 'AttemptAccepted', data: { attemptNumber: 1, serviceToken: 'token-a', evidence: 'inquiry' } },
    ]);
});

test.each(['card', 'recurring'] as const)(
  'a %s payment absent after the quiet period may have been charged: in review, never attempted again',
  (kind) => {
    const history = [requested({ kind }), sampleEvents.AttemptUnresolved];
    const calls = [opened('attempt_not_found', { attemptNumber: 1, providerOrderNumber: 'pay_1.1' })];
    for (const more of [{}, { nextAttempt: attempt(2) }]) {
      given(history)
        .when(inquiry(quietUntil - 1, more))
        .thenNothing();
      given(history).when(inquiry(quietUntil, more)).then(calls);
    }
  },
);

// A hosted page took 65 s after one 500 of the provider: the customer was gone.
describe('a page that no customer received', () => {
  test('is followed by another one at once, after any outcome of its call', () => {
    given([requested()])
      .when(answer(unknown, { nextAttempt: attempt(2) }))
      .then([sampleEvents.AttemptUnresolved, started(2)]);
    given([requested()]).when(answer(unknown)).then([sampleEvents.AttemptUnresolved]);
  });

  test('is a duplicate if it appears later', () => {
    const history = [...historyTo.unresolved, started(2)];
    const shown = inquired(observed('approved', { serviceToken: 'token-first', orderNumber: 'pay_1.1' }));
    expect(decided(history, shown)).toMatchObject([
      { data: { discrepancy: { kind: 'second_payment_found', serviceToken: 'token-first' } } },
    ]);
  });

  test('is followed by another one without a quiet period if an inquiry does not find it', () => {
    given(historyTo.unresolved)
      .when(inquiry(0, { nextAttempt: attempt(2) }))
      .then([sampleEvents.AttemptNotFound, started(2)]);
  });

  test('fails without a further attempt only if it is absent after the quiet period', () => {
    given(historyTo.unresolved)
      .when(inquiry(quietUntil - 1))
      .thenNothing();
    given(historyTo.unresolved)
      .when(inquiry(quietUntil))
      .then([sampleEvents.AttemptNotFound, failed('not-found')]);
  });
});

// A card was refused, and the confirming inquiry failed: each such payment waited for a person.
describe('a refusal that no inquiry has confirmed', () => {
  const errors = [apiError('processing_error')];
  const after = (kind: PaymentTerms['kind']): PaymentEvent[] => [
    requested({ kind }),
    { type: 'AttemptUnresolved', data: { attemptNumber: 1, reason: 'refused', errors } },
  ];

  test.each(['card', 'recurring'] as const)(
    'stands once an inquiry after the quiet period finds nothing: %s',
    (kind) => {
      given(after(kind))
        .when(inquiry(quietUntil - 1, { nextAttempt: attempt(2) }))
        .thenNothing();
      given(after(kind))
        .when(inquiry(quietUntil, { nextAttempt: attempt(2) }))
        .then([{ type: 'AttemptRefused', data: { attemptNumber: 1, errors } }, failed('refused')]);
    },
  );

  test('does not apply to a payment that is found, or to an attempt whose answer was lost', () => {
    const found = { found: [observed('approved')] };
    expect(types(decided(after('card'), inquiry(quietUntil, found)))).toEqual([
      'AttemptAccepted',
      'PaymentApproved',
    ]);
    const strange = { found: [observed('approved', { hasOurCallback: false })] };
    expect(types(decided(after('card'), inquiry(quietUntil, strange)))).toEqual(['ReviewOpened']);
    const second: PaymentEvent[] = [
      requested({ kind: 'card' }),
      { type: 'AttemptRefused', data: { attemptNumber: 1, errors } },
      started(2),
    ];
    const late = inquiry(attempt(2).quietUntil, { attemptNumber: 2 });
    expect(types(decided(second, late))).toEqual(['AttemptUnresolved', 'ReviewOpened']);
    const lost: PaymentEvent = { type: 'AttemptUnresolved', data: { attemptNumber: 2, reason: 'timeout' } };
    expect(types(decided([...second, lost], late))).toEqual(['ReviewOpened']);
  });
});

test('a card payment under review is accepted if it is found after all', () => {
  const history = [requested({ kind: 'card' }), sampleEvents.AttemptUnresolved];
  const called = [...history, ...decided(history, inquiry(quietUntil))];
  expect(types(decided(called, inquiry(quietUntil, { found: [observed('declined')] })))).toEqual([
    'AttemptAccepted',
    'PaymentDeclined',
    'ReviewResolved',
  ]);
});

test('an inquiry about the second attempt uses the times of the second attempt', () => {
  const inquire = (inquiredAt: number) => inquiry(inquiredAt, { attemptNumber: 2, nextAttempt: attempt(3) });
  given(secondAttempt)
    .when(inquire(attempt(2).answerBy - 1))
    .thenNothing();
  expect(types(decided(secondAttempt, inquire(attempt(2).answerBy)))).toEqual([
    'AttemptUnresolved',
    'AttemptNotFound',
    'AttemptStarted',
  ]);
});

test.each(paymentPhases.filter((phase) => phase !== 'requested' && phase !== 'unresolved'))(
  'in phase %s a late inquiry that finds nothing changes nothing',
  (phase) => {
    given(historyTo[phase])
      .when(inquiry(quietUntil, { nextAttempt: attempt(2) }))
      .thenNothing();
  },
);

test('a late inquiry that finds the known payment changes nothing', () => {
  given(historyTo.init)
    .when(inquiry(quietUntil, { found: [observed('approved')] }))
    .thenNothing();
});
