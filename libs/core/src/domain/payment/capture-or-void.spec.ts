import { scenario } from '@tollgate/testing';
import { describe, expect, test } from 'vitest';
import {
  announcedCall,
  apiError,
  decided,
  historyTo,
  inquired,
  observed,
  paymentAfter,
  paymentDomain,
  sampleEvents,
  types,
} from '../testing/samples.ts';
import { callRules, type CallWindow } from '../outbound-call/outbound-call.ts';
import type {
  RecordCaptureOrVoidOutcome,
  SubmitCaptureOrVoid,
  CaptureOrVoidOutcome,
} from './payment-commands.ts';
import type { ReviewCode, PaymentEvent } from './payment-events.ts';
import { isFinalPhase, paymentPhases } from './payment-machine.ts';

const { given } = scenario(paymentDomain);

const opened = (code: ReviewCode, evidence: object = {}): PaymentEvent => ({
  type: 'ReviewOpened',
  data: { code, evidence: expect.objectContaining(evidence) },
});

const submit = (operation: 'capture' | 'void'): SubmitCaptureOrVoid => ({
  type: 'SubmitCaptureOrVoid',
  operation,
  window: announcedCall,
});

const { answerBy, quietUntil } = announcedCall;

/** The call window of the n-th submission, announced at n × 100,000. */
const window = (number: number): CallWindow => ({
  sendBy: number * 100_000 + 1_000,
  answerBy: number * 100_000 + 10_000,
  quietUntil: number * 100_000 + 60_000,
});

const unknown: CaptureOrVoidOutcome = { kind: 'unknown', reason: 'timeout' };
const notSent: CaptureOrVoidOutcome = { kind: 'not-sent', reason: 'connection refused' };
const refused: CaptureOrVoidOutcome = { kind: 'refused', errors: [apiError('processing_error')] };

const stillAuthorized = observed('pending', { authorizedAmount: 1000 });

const operations = [
  {
    operation: 'capture',
    phase: 'capturing',
    opposite: 'void',
    oppositePhase: 'voiding',
    submitted: 'CaptureSubmitted',
    refusedType: 'CaptureRefused',
    unresolvedType: 'CaptureUnresolved',
    done: 'approved',
    outcome: { type: 'PaymentApproved', data: { amount: 1000 } },
  },
  {
    operation: 'void',
    phase: 'voiding',
    opposite: 'capture',
    oppositePhase: 'capturing',
    submitted: 'VoidSubmitted',
    refusedType: 'VoidRefused',
    unresolvedType: 'VoidUnresolved',
    done: 'declined',
    outcome: { type: 'PaymentVoided', data: {} },
  },
] as const;

describe.each(operations)('to $operation', (each) => {
  const { operation, phase, opposite, oppositePhase, submitted, refusedType, unresolvedType, done } = each;
  const submission = (callWindow: CallWindow): PaymentEvent => ({ type: submitted, data: callWindow });
  const unresolved = (reason: string): PaymentEvent => ({ type: unresolvedType, data: { reason } });
  const refusal = (
    reason: 'refused' | 'not-sent',
    errors = [apiError('processing_error')],
  ): PaymentEvent => ({
    type: refusedType,
    data: { errors: reason === 'refused' ? errors : [], reason },
  });
  const answer = (outcome: CaptureOrVoidOutcome, number = 1): RecordCaptureOrVoidOutcome => ({
    type: 'RecordCaptureOrVoidOutcome',
    operation,
    submission: number,
    outcome,
  });
  const reviewCode = `${operation}_unresolved` as const;
  const underWay = historyTo[phase];
  const lost = [...underWay, unresolved('timeout')];
  /** Submitted by a caller, answer lost, and submitted again by an inquiry. */
  const again = [...lost, submission(window(1))];

  // --- The command

  test('is announced if money is authorized', () => {
    given(historyTo.authorized)
      .when(submit(operation))
      .then([submission(announcedCall)]);
  });

  test('adds nothing while it is under way, and once it has taken effect', () => {
    given(underWay).when(submit(operation)).thenNothing();
    given(lost).when(submit(operation)).thenNothing();
    given([...underWay, each.outcome])
      .when(submit(operation))
      .thenNothing();
  });

  test('is refused while the opposite is under way', () => {
    given(historyTo[oppositePhase]).when(submit(operation)).thenRefused('operation_in_progress');
  });

  test('is refused once the opposite has happened', () => {
    const opposed = operations.find((other) => other.operation === opposite) ?? each;
    given([...historyTo[oppositePhase], opposed.outcome])
      .when(submit(operation))
      .thenRefused('payment_in_final_state');
  });

  test.each(['requested', 'unresolved', 'init', 'pending'] as const)(
    'is refused in phase %s: no money is authorized',
    (other) => {
      given(historyTo[other]).when(submit(operation)).thenRefused('payment_not_confirmable');
    },
  );

  test.each(paymentPhases.filter((final) => isFinalPhase(final) && final !== 'voided'))(
    'is refused in phase %s if it was not submitted',
    (final) => {
      given(historyTo[final]).when(submit(operation)).thenRefused('payment_in_final_state');
    },
  );

  test('is refused for a payment that was never requested', () => {
    given([]).when(submit(operation)).thenRefused('payment_not_found');
  });

  test('may be requested again after a refusal, and so may its opposite', () => {
    const history = [...underWay, refusal('refused')];
    given(history)
      .when(submit(operation))
      .then([submission(announcedCall)]);
    expect(types(decided(history, submit(opposite)))).toHaveLength(1);
  });

  // --- The answer

  test.each([
    ['under way', underWay],
    ['unresolved by an inquiry', lost],
  ])('that was refused or not sent while it was %s leaves the payment authorized', (_, history) => {
    given(history)
      .when(answer(notSent))
      .then([refusal('not-sent')]);
    given(history)
      .when(answer(refused))
      .then([refusal('refused')]);
    expect(paymentAfter([...history, refusal('refused')])).toMatchObject({
      phase: 'authorized',
      authorizedAmount: 1000,
      captureOrVoid: {
        operation,
        state: 'refused',
        refused: { reason: 'refused', errors: [{ code: 'a_code' }] },
      },
    });
  });

  test('whose answer was lost is unresolved, neither refused nor done', () => {
    given(underWay)
      .when(answer(unknown))
      .then([unresolved('timeout')]);
    given(lost).when(answer(unknown)).thenNothing();
    expect(paymentAfter(lost)).toMatchObject({ phase, captureOrVoid: { state: 'unresolved' } });
  });

  test('that was accepted with the payment as it is now is done', () => {
    const shown: CaptureOrVoidOutcome = { kind: 'accepted', observed: observed(done) };
    given(underWay).when(answer(shown)).then([each.outcome]);
    given(lost).when(answer(shown)).then([each.outcome]);
  });

  test.each<[string, CaptureOrVoidOutcome]>([
    ['shows nothing', { kind: 'accepted' }],
    ['shows the authorization unchanged', { kind: 'accepted', observed: stillAuthorized }],
    ['shows another payment', { kind: 'accepted', observed: observed(done, { serviceToken: 'token-b' }) }],
  ])('that was accepted by an answer that %s is unresolved', (_, outcome) => {
    given(underWay)
      .when(answer(outcome))
      .then([unresolved('accepted, but no effect is visible yet')]);
  });

  test.each(paymentPhases.filter((other) => other !== phase))(
    'is answered too late to change phase %s',
    (other) => {
      const accepted: CaptureOrVoidOutcome = { kind: 'accepted', observed: observed(done) };
      for (const outcome of [accepted, refused, notSent, unknown])
        given(historyTo[other]).when(answer(outcome)).thenNothing();
    },
  );

  test('is cut to a length that an event can hold', () => {
    const errors = Array.from({ length: 80 }, () => apiError('processing_error'));
    expect(decided(underWay, answer({ kind: 'refused', errors }))[0]?.data).toEqual({
      errors: errors.slice(0, 50),
      reason: 'refused',
    });
    const reason = 'x'.repeat(10_000);
    expect(decided(underWay, answer({ kind: 'unknown', reason }))).toEqual([unresolved('x'.repeat(4096))]);
  });

  // --- Answers to earlier submissions

  test('a late refusal of an earlier submission does not affect the current one', () => {
    for (const outcome of [refused, notSent, unknown]) given(again).when(answer(outcome, 1)).thenNothing();
    given(again)
      .when(answer(refused, 2))
      .then([refusal('refused')]);
  });

  // Submissions were once counted per operation: the first refusal, repeated, ended the third one.
  test('no two submissions of a payment have the same number, so a late answer is never mistaken for another', () => {
    const oppositeWasRefused = decided([...underWay, refusal('refused')], submit(opposite)).concat({
      type: opposite === 'capture' ? 'CaptureRefused' : 'VoidRefused',
      data: { errors: [], reason: 'refused' },
    });
    const third = [...underWay, refusal('refused'), ...oppositeWasRefused, submission(window(3))];
    expect(paymentAfter(third).captureOrVoid?.number).toBe(3);
    given(third).when(answer(refused, 1)).thenNothing();
    given(third)
      .when(answer(refused, 3))
      .then([refusal('refused')]);
  });

  test('a late acceptance of an earlier submission counts only by the status it shows', () => {
    given(again)
      .when(answer({ kind: 'accepted', observed: observed(done) }, 1))
      .then([each.outcome]);
    given(again)
      .when(answer({ kind: 'accepted' }, 1))
      .thenNothing();
    given(again)
      .when(answer({ kind: 'accepted', observed: stillAuthorized }, 1))
      .thenNothing();
  });

  // An operation reported as under way was once dropped when the provider could not be reached the next time.
  test('a later submission that was not sent does not end the operation', () => {
    given(again)
      .when(answer(notSent, 2))
      .then([unresolved('connection refused')]);
    const history = [...again, unresolved('connection refused')];
    given(history)
      .when(inquired(stillAuthorized, { inquiredAt: window(1).quietUntil, nextWindow: window(2) }))
      .then([submission(window(2))]);
  });

  // --- Inquiries

  test.each(['approved', 'declined', 'expired'] as const)('an inquiry that finds it %s ends it', (status) => {
    const outcome =
      status === done ? [each.outcome] : decided(historyTo.authorized, inquired(observed(status)));
    expect(types(outcome)).toHaveLength(1);
    given(underWay)
      .when(inquired(observed(status)))
      .then(outcome);
    given(lost)
      .when(inquired(observed(status), { nextWindow: window(1) }))
      .then(outcome);
  });

  const noOutcome = unresolved('no outcome was recorded');
  const twice = [...again, unresolved('timeout')];
  const inReview = opened(reviewCode, { operation, submissions: 1 });

  test.each<[string, readonly PaymentEvent[], number, string, PaymentEvent[]]>([
    ['while the caller may still wait', underWay, answerBy - 1, 'authorized', []],
    ['of a crash before any recorded outcome', underWay, answerBy, 'authorized', [noOutcome]],
    ['before the end of the quiet period', lost, quietUntil - 1, 'authorized', []],
    ['at its end', lost, quietUntil, 'authorized', [submission(window(3))]],
    ['that is the first, at its end', underWay, quietUntil, 'authorized', [noOutcome, submission(window(3))]],
    ['before the end of that of the latest', twice, window(1).quietUntil - 1, 'authorized', []],
    ['at the end of that', twice, window(1).quietUntil, 'authorized', [submission(window(3))]],
    ['before that end, if no money is authorized', lost, quietUntil - 1, 'pending', []],
    ['at its end, if no money is authorized', lost, quietUntil, 'pending', [inReview]],
  ])('an inquiry %s', (_, history, inquiredAt, shown, events) => {
    const snapshot = shown === 'authorized' ? stillAuthorized : observed('pending');
    given(history)
      .when(inquired(snapshot, { inquiredAt, nextWindow: window(3) }))
      .then(events);
  });

  test('submitted again has its own number and times', () => {
    expect(paymentAfter(again).captureOrVoid).toMatchObject({ number: 2, state: 'submitted', ...window(1) });
  });

  test('an inquiry that may not call submits nothing', () => {
    given(lost)
      .when(inquired(stillAuthorized, { inquiredAt: quietUntil }))
      .thenNothing();
  });

  test.each([
    observed('pending'),
    observed('init'),
    observed('odd'),
    observed('pending', { authorizedAmount: 1001 }),
  ])('an observation without the authorization submits nothing: %j', (snapshot) => {
    const command = inquired(snapshot, { inquiredAt: quietUntil, nextWindow: window(1) });
    expect(types(decided(lost, command))).not.toContain(submitted);
  });

  /** Submitted again after inquiries, with every answer lost. */
  function submittedTimes(history: readonly PaymentEvent[], times: number): readonly PaymentEvent[] {
    let result = history;
    for (let number = 1; number <= times; number += 1) {
      const quietBefore = paymentAfter(result).captureOrVoid?.quietUntil ?? 0;
      const command = inquired(stillAuthorized, {
        inquiredAt: quietBefore,
        nextWindow: window(quietBefore / 100_000),
      });
      result = [...result, ...decided(result, command), unresolved('timeout')];
    }
    return result;
  }

  test('after five submissions without effect a review opens, and there is no sixth', () => {
    expect(callRules[operation].attemptsMax).toBe(5);
    const all = submittedTimes(lost, 4);
    expect(types(all).filter((type) => type === submitted)).toHaveLength(5);
    const { quietUntil: inquiredAt = 0 } = paymentAfter(all).captureOrVoid ?? {};
    given(all)
      .when(inquired(stillAuthorized, { inquiredAt: inquiredAt - 1, nextWindow: window(9) }))
      .thenNothing();
    given(all)
      .when(inquired(stillAuthorized, { inquiredAt, nextWindow: window(9) }))
      .then([opened(reviewCode, { operation, submissions: 5 })]);
  });

  const openedAfter = (history: readonly PaymentEvent[]): readonly PaymentEvent[] => [
    ...history,
    { type: 'ReviewOpened', data: { code: reviewCode, evidence: { operation } } },
  ];
  const inquireAgain: PaymentEvent = {
    type: 'ReviewResolved',
    data: {
      code: reviewCode,
      number: 1,
      resolution: 'check_again',
      reason: 'the service is back',
    },
  };

  test('after a review is resolved, submissions count from zero, and their numbers continue', () => {
    const seen = [...openedAfter(submittedTimes(lost, 4)), inquireAgain];
    const { quietUntil: inquiredAt = 0 } = paymentAfter(seen).captureOrVoid ?? {};
    given(seen)
      .when(inquired(stillAuthorized, { inquiredAt, nextWindow: window(99) }))
      .then([submission(window(99))]);
    const more = submittedTimes(seen, 4);
    expect(paymentAfter(more).captureOrVoid?.number).toBe(9);
    const command = inquired(stillAuthorized, {
      inquiredAt: paymentAfter(more).captureOrVoid?.quietUntil ?? 0,
    });
    expect(types(decided(more, command))).toEqual(['ReviewOpened']);
  });

  test('a new command after a refusal counts from one', () => {
    const refusedAtLast = [...submittedTimes(lost, 4), refusal('refused')];
    const history = [...refusedAtLast, ...decided(refusedAtLast, submit(operation)), unresolved('timeout')];
    given(history)
      .when(inquired(stillAuthorized, { inquiredAt: quietUntil, nextWindow: window(9) }))
      .then([submission(window(9))]);
  });
});

test('a captured payment that was refunded later is still captured', () => {
  const history = [...historyTo.capturing, sampleEvents.PaymentApproved];
  given([...history, { type: 'ExternalRefundObserved', data: { amount: 1000 } }])
    .when(submit('capture'))
    .thenNothing();
});
