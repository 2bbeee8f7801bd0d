import { scenario } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { type ResolveReview, type ReviewRefusal, observeDiscrepancy } from '@tollgate/core';
import {
  decideUnmatched,
  decodeUnmatchedEvent,
  evolveUnmatched,
  type Unmatched,
  type UnmatchedEvent,
  type UnmatchedFacts,
  type UnmatchedInput,
} from './unmatched.ts';

const { given } = scenario<Unmatched | undefined, UnmatchedInput, UnmatchedEvent, ReviewRefusal>({
  initial: undefined,
  decide: decideUnmatched,
  evolve: evolveUnmatched,
  againGives: ({ type }) => (type === 'ResolveReview' ? 'review_not_found' : 'nothing'),
});

const facts: UnmatchedFacts = {
  environment: 'sandbox',
  account: 'main',
  operation: 'payment',
  serviceToken: 'service-1',
  status: 'approved',
  amount: 900,
  refundedAmount: 0,
  currency: 'EUR',
  orderNumber: 'elsewhere-1',
};
const observe = (changes: Partial<UnmatchedFacts> = {}, team?: string): UnmatchedInput => ({
  type: 'ObserveUnmatched',
  facts: { ...facts, ...changes },
  ...(team === undefined ? {} : { team }),
});
const observed = (changes: Partial<Unmatched> = {}): UnmatchedEvent => ({
  type: 'UnmatchedObserved',
  data: { ...facts, ...changes },
});
const theirs = {
  status: 'approved',
  amount: 900,
  currency: 'EUR',
  refundedAmount: 0,
  authorizedAmount: null,
  orderNumber: 'elsewhere-1',
};
const opened = (changes: Partial<typeof theirs> = {}): UnmatchedEvent =>
  observeDiscrepancy(
    { discrepancies: [] },
    {
      kind: 'only_at_service',
      operation: 'payment',
      serviceToken: 'service-1',
      ours: null,
      theirs: { ...theirs, ...changes },
    },
  )[0] as UnmatchedEvent;
const resolve = (changes: Partial<ResolveReview<'discrepancy'>> = {}): UnmatchedInput => ({
  type: 'ResolveReview',
  code: 'discrepancy',
  number: 1,
  resolution: 'keep_ours',
  reason: 'the old shop',
  ...changes,
});
const resolved: UnmatchedEvent = {
  type: 'ReviewResolved',
  data: { code: 'discrepancy', number: 1, resolution: 'keep_ours', reason: 'the old shop' },
};

describe('an operation that only the provider has', () => {
  it('opens a review', () =>
    given([])
      .when(observe({}, 'shop'))
      .then([observed({ team: 'shop' }), opened()]));

  it('opens no second review while nothing about it is new', () => {
    given([observed(), opened()]).when(observe()).thenNothing();
    given([observed(), opened(), resolved]).when(observe()).thenNothing();
  });

  it('opens another review in place of the open one if the provider shows something else', () => {
    const superseded = {
      ...resolved,
      data: { ...resolved.data, resolution: 'superseded', reason: 'The provider shows a different record.' },
    } as UnmatchedEvent;
    given([observed(), opened()])
      .when(observe({ status: 'declined' }))
      .then([observed({ status: 'declined' }), superseded, opened({ status: 'declined' })]);
  });

  it('is hidden from a team that is no longer the only one', () => {
    given([observed({ team: 'shop' }), opened()])
      .when(observe())
      .then([observed()]);
  });

  it('stores no card number, no unbounded text and no invalid time', () => {
    const odd = { orderNumber: '4392963203551251', status: 's'.repeat(1_000), createdAt: -1 };
    const decision = decideUnmatched(undefined, observe(odd));
    const [first] = decision.kind === 'events' ? decision.events : [];
    expect(first?.data).toMatchObject({
      orderNumber: expect.stringMatching(/^\d{6}\*+\d{4}$/),
      status: 's'.repeat(255),
    });
    expect(first?.data).not.toHaveProperty('createdAt');
    expect(decodeUnmatchedEvent(first!)).toEqual(first);
  });
});

describe('its review', () => {
  it('is resolved by a person', () => given([observed(), opened()]).when(resolve()).then([resolved]));

  it.each([[[]], [[observed(), opened(), resolved]]] as const)(
    'cannot be resolved if it does not exist',
    (history) => {
      given(history).when(resolve()).thenRefused('review_not_found');
    },
  );

  it('ends only if a second person agrees, when two are required', () => {
    const by = (name: string, history: readonly UnmatchedEvent[]) => {
      const state = history.reduce<Unmatched | undefined>(evolveUnmatched, undefined);
      const decision = decideUnmatched(state, resolve({ proposer: { name, at: 5 } }));
      return decision.kind === 'refused' ? [] : decision.events;
    };
    const first = by('ada', [observed(), opened()]);
    expect(first).toMatchObject([{ type: 'ReviewResolutionProposed', data: { proposedBy: 'ada' } }]);
    expect(by('bob', [observed(), opened(), ...first])).toEqual([resolved]);
  });

  it('has no other resolution', () => {
    given([observed(), opened()])
      .when(resolve({ resolution: 'check_again' }))
      .thenRefused('resolution_not_allowed');
  });
});

it('begins with its observation', () => {
  expect(() => evolveUnmatched(undefined, opened())).toThrow('ReviewOpened came before UnmatchedObserved');
});
