import { describe, expect, test } from 'vitest';
import {
  afterOpened,
  afterProposed,
  afterResolved,
  noReviews,
  findOpen,
  isOpen,
  openReview,
  proposalFor,
  resolveWhere,
  type Resolution,
  type Reviewable,
  type ReviewOpened,
  type ReviewResolved,
} from './review.ts';

type Code = 'odd' | 'even';
const noReviewsYet: Reviewable<Code> = noReviews;
const evidence = { text: 'a', number: 1, flag: true, nothing: null };

const openedIn = (state: Reviewable<Code>, code: Code, seen: object): Reviewable<Code> => ({
  ...state,
  ...afterOpened(state, { code, evidence: { ...evidence, ...seen } }),
});

const resolvedIn = (state: Reviewable<Code>, data: ReviewResolved<Code>['data']): Reviewable<Code> => ({
  ...state,
  ...afterResolved(state, data),
});

test('a review opens with its evidence', () => {
  expect(openReview(noReviewsYet, 'odd', evidence)).toEqual([
    { type: 'ReviewOpened', data: { code: 'odd', evidence } },
  ]);
});

test.each([
  ['another value', { ...evidence, number: 2 }],
  ['another kind of value', { ...evidence, number: '1' }],
  ['more', { ...evidence, more: 1 }],
  ['less', { text: 'a', number: 1, flag: true }],
  ['another name', { text: 'a', number: 1, flag: true, toString: null }],
])('evidence with %s opens another review', (_, other) => {
  const known = resolvedIn(openedIn(noReviewsYet, 'odd', {}), {
    code: 'odd',
    number: 1,
    resolution: 'acknowledged',
    reason: 'seen',
  });
  expect(openReview(known, 'odd', other)).toHaveLength(1);
});

test('one review of each code is open, with the latest evidence', () => {
  const acknowledged = resolvedIn(openedIn(noReviewsYet, 'odd', { number: 1 }), {
    code: 'odd',
    number: 1,
    resolution: 'acknowledged',
    reason: 'seen',
  });
  expect(openReview(acknowledged, 'odd', evidence)).toEqual([]);
  expect(openReview(acknowledged, 'even', evidence)).toHaveLength(1);
  const open = openedIn(openedIn(acknowledged, 'odd', { number: 2 }), 'even', {});
  expect([isOpen(open, 'odd'), isOpen(acknowledged, 'odd'), isOpen(noReviewsYet, 'odd')]).toEqual([
    true,
    false,
    false,
  ]);
  expect(openReview(open, 'odd', { ...evidence, number: 2 })).toEqual([]);
  // The acknowledged evidence again: a person must see that it is back.
  expect(openReview(open, 'odd', evidence)).toEqual([
    {
      type: 'ReviewResolved',
      data: { code: 'odd', number: 2, resolution: 'superseded', reason: 'Newer evidence exists.' },
    },
    { type: 'ReviewOpened', data: { code: 'odd', evidence } },
  ]);
});

test('long texts in the evidence are cut', () => {
  const [opened] = openReview(noReviewsYet, 'odd', { text: 'x'.repeat(10_000), number: 1 });
  const { evidence: stored } = opened!.data as ReviewOpened<Code>['data'];
  expect(stored['number']).toBe(1);
  expect(String(stored['text'])).toHaveLength(256);
});

test('only an acknowledgement is remembered', () => {
  for (const resolution of ['check_again', 'found', 'retrieved']) {
    const after = resolvedIn(openedIn(noReviewsYet, 'odd', {}), {
      code: 'odd',
      number: 1,
      resolution,
      reason: 'seen',
    });
    expect(openReview(after, 'odd', evidence)).toHaveLength(1);
  }
});

// --- Numbers

test('reviews are numbered in order of opening, over the life of their subject', () => {
  const first = openedIn(openedIn(noReviewsYet, 'odd', {}), 'even', {});
  expect(first.reviews.map(({ number }) => number)).toEqual([1, 2]);
  const later = openedIn(
    resolvedIn(first, { code: 'odd', number: 1, resolution: 'found', reason: 'seen' }),
    'odd',
    {},
  );
  expect(later.reviews.map(({ code, number }) => [code, number])).toEqual([
    ['even', 2],
    ['odd', 3],
  ]);
  expect(later.reviewCount).toBe(3);
});

test('a person resolves a review by its code and its number', () => {
  const open = openedIn(openedIn(noReviewsYet, 'odd', { number: 7 }), 'odd', { number: 8 });
  expect(findOpen(open, { code: 'odd', number: 2 })?.evidence['number']).toBe(8);
  expect(findOpen(open, { code: 'even', number: 2 })).toBeUndefined();
  expect(findOpen(open, { code: 'odd', number: 3 })).toBeUndefined();
});

test('a resolution closes only its own review, and remembers only its evidence', () => {
  const open = openedIn(openedIn(noReviewsYet, 'odd', { number: 7 }), 'odd', { number: 8 });
  const after = resolvedIn(open, { code: 'odd', number: 2, resolution: 'acknowledged', reason: 'seen' });
  expect(after.reviews.map(({ number }) => number)).toEqual([1]);
  expect(after.acknowledged.map(({ number }) => number)).toEqual([2]);
});

test('an acknowledgement ends like a review', () => {
  const data = { code: 'odd', number: 1, reason: 'seen' } as const;
  const acknowledged = resolvedIn(openedIn(noReviewsYet, 'odd', {}), { ...data, resolution: 'acknowledged' });
  expect(resolvedIn(acknowledged, { ...data, resolution: 'retrieved' }).acknowledged).toEqual([]);
});

test('each resolved review has its own event', () => {
  const open = [1, 2, 3].reduce((state, number) => openedIn(state, 'odd', { number }), noReviewsYet);
  const endOf = (numbers: number[]) =>
    resolveWhere(open, ({ number }) => numbers.includes(number), 'found', 'reported').map(({ data }) => data);
  const data = { code: 'odd', resolution: 'found', reason: 'reported' };
  expect(endOf([1, 3])).toEqual([
    { ...data, number: 1 },
    { ...data, number: 3 },
  ]);
  expect(endOf([])).toEqual([]);
});

describe('if two people must resolve a review', () => {
  const open = openedIn(openedIn(noReviewsYet, 'even', {}), 'odd', {});
  const odd = { code: 'odd', number: 2 } as const;
  const answer = (name: string, resolution: Resolution = 'refund_made') =>
    ({ resolution, reason: 'I asked them', proposer: { name, at: 7 } }) as const;
  const proposed = (proposedBy: string, resolution: Resolution = 'refund_made') =>
    ({
      type: 'ReviewResolutionProposed',
      data: { ...odd, resolution, reason: 'I asked them', proposedBy, proposedAt: 7 },
    }) as const;
  /** The review after these first answers. */
  const reviewAfter = (...answers: ReturnType<typeof proposed>[]) =>
    findOpen(
      answers.reduce<Reviewable<Code>>(
        (state, { data }) => ({ ...state, ...afterProposed(state, data) }),
        open,
      ),
      odd,
    )!;

  test('the first answer is stored, with person, time and note', () => {
    expect(proposalFor(reviewAfter(), answer('ada'))).toEqual([proposed('ada')]);
    const { code, number, ...proposal } = proposed('ada').data;
    expect(reviewAfter(proposed('ada'))).toEqual({ code, number, evidence, proposal });
  });

  test('the same answer of another person takes effect', () =>
    expect(proposalFor(reviewAfter(proposed('ada')), answer('bob'))).toBeUndefined());

  test('the same answer of the same person changes nothing, however often it is repeated', () =>
    expect(proposalFor(reviewAfter(proposed('ada')), answer('ada'))).toEqual([]));

  test.each(['ada', 'bob'])('a different answer replaces it, of %s', (id) => {
    const [other] = proposalFor(reviewAfter(proposed('ada')), answer(id, 'refund_not_made'))!;
    expect(other).toEqual(proposed(id, 'refund_not_made'));
    // And the first answer no longer counts.
    const after = reviewAfter(proposed('ada'), proposed(id, 'refund_not_made'));
    expect(proposalFor(after, answer('bob'))).toEqual([proposed('bob')]);
  });

  // One person would close the review with a first answer of another person.
  test('asking the provider again also takes two', () =>
    expect(proposalFor(reviewAfter(), answer('ada', 'check_again'))).toEqual([
      proposed('ada', 'check_again'),
    ]));

  test.each(['Ada', ' ada', 'ＡDA'])('%j is the same person as ada', (name) =>
    expect(proposalFor(reviewAfter(proposed('ada')), answer(name))).toEqual([]),
  );

  test('the same person may improve the note', () => {
    const better = { ...answer('ada'), reason: 'The bank has sent a letter' };
    const [again] = proposalFor(reviewAfter(proposed('ada')), better)!;
    expect(again?.data).toMatchObject({ proposedBy: 'ada', reason: 'The bank has sent a letter' });
  });

  test('one is enough unless two are required', () => {
    const { proposer: _, ...alone } = answer('ada');
    expect(proposalFor(reviewAfter(), alone)).toBeUndefined();
    expect(proposalFor(reviewAfter(proposed('ada')), alone)).toBeUndefined();
  });

  test('the answer to one review does not affect another', () => {
    const state = { ...open, ...afterProposed(open, proposed('ada').data) };
    expect(state.reviews.map(({ proposal }) => proposal?.proposedBy)).toEqual([undefined, 'ada']);
    expect(afterProposed(open, { ...proposed('ada').data, number: 9 }).reviews).toEqual(open.reviews);
  });
});
