import { expect, test } from 'vitest';
import {
  afterOpened,
  afterResolved,
  isOpen,
  noReviews,
  findOpen,
  isAbout,
  openReview,
  openReviewPer,
  resolutions,
  resolveOpen,
  resolveWhere,
  type Reviewable,
  type ReviewResolved,
} from './review.ts';

type Code = 'odd' | 'even';
const nobody: Reviewable<Code> = noReviews;
const evidence = { text: 'a', number: 1, flag: true, nothing: null };

const raisedIn = (state: Reviewable<Code>, code: Code, seen: object): Reviewable<Code> => ({
  ...state,
  ...afterOpened(state, { code, evidence: { ...evidence, ...seen } }),
});

const settled = (state: Reviewable<Code>, data: ReviewResolved<Code>['data']): Reviewable<Code> => ({
  ...state,
  ...afterResolved(state, data),
});

test('what waits for a person is raised with its evidence', () => {
  expect(openReview(nobody, 'odd', evidence)).toEqual([
    { type: 'ReviewOpened', data: { code: 'odd', evidence } },
  ]);
});

test('while a code is open it is not raised again, whatever the evidence; another code is', () => {
  const open = raisedIn(nobody, 'odd', {});
  expect(openReview(open, 'odd', evidence)).toEqual([]);
  expect(openReview(open, 'odd', { other: 1 })).toEqual([]);
  expect(openReview(open, 'even', evidence)).toHaveLength(1);
});

test('texts of the evidence are cut to what a person can read', () => {
  const [raised] = openReview(nobody, 'odd', { text: 'x'.repeat(10_000), number: 10_000 });
  expect(raised?.data.evidence).toEqual({ text: 'x'.repeat(256), number: 10_000 });
});

test('what is open is ended, and what is not is not', () => {
  const open = raisedIn(nobody, 'odd', {});
  expect(isOpen(open, 'odd')).toBe(true);
  expect(isOpen(open, 'even')).toBe(false);
  expect(resolveOpen(open, 'odd', 'found', 'told')).toEqual([
    { type: 'ReviewResolved', data: { code: 'odd', resolution: 'found', reason: 'told' } },
  ]);
  expect(resolveOpen(open, 'even', 'found', 'told')).toEqual([]);
});

test('the end of a code ends all that is open of it, and nothing of another', () => {
  const open = raisedIn(raisedIn(raisedIn(nobody, 'odd', { number: 1 }), 'even', {}), 'odd', { number: 2 });
  const after = settled(open, { code: 'odd', resolution: 'inquire_again', reason: 'seen' });
  expect(after.reviews.map(({ code }) => code)).toEqual(['even']);
  expect(after.acknowledged).toEqual([]);
});

test.each(resolutions.filter((each) => each !== 'inquire_again'))(
  'what a person dealt with by %s is known: each piece of evidence for itself, and for its own code',
  (resolution) => {
    const open = raisedIn(raisedIn(nobody, 'odd', { number: 1 }), 'odd', { number: 2 });
    const known = settled(open, { code: 'odd', resolution, reason: 'seen' });
    expect(known.reviews).toEqual([]);
    for (const number of [1, 2]) expect(openReview(known, 'odd', { ...evidence, number })).toEqual([]);
    expect(openReview(known, 'even', evidence)).toHaveLength(1);
  },
);

test.each([
  ['another value', { ...evidence, number: 2 }],
  ['another kind of value', { ...evidence, number: '1' }],
  ['more', { ...evidence, more: 1 }],
  ['less', { text: 'a', number: 1, flag: true }],
  ['another name', { text: 'a', number: 1, flag: true, toString: null }],
])('evidence with %s is news', (_, other) => {
  const known = settled(raisedIn(nobody, 'odd', {}), {
    code: 'odd',
    resolution: 'acknowledged',
    reason: 'seen',
  });
  expect(openReview(known, 'odd', other)).toHaveLength(1);
});

test('evidence is compared as it was cut', () => {
  const text = 'x'.repeat(10_000);
  const [raised] = openReview(nobody, 'odd', { text });
  const open = { ...nobody, ...afterOpened(nobody, raised?.data ?? { code: 'odd', evidence: {} }) };
  const known = settled(open, { code: 'odd', resolution: 'acknowledged', reason: 'seen' });
  expect(openReview(known, 'odd', { text })).toEqual([]);
});

test('only an acknowledgement is remembered', () => {
  for (const resolution of ['inquire_again', 'found', 'retrieved']) {
    const after = settled(raisedIn(nobody, 'odd', {}), { code: 'odd', resolution, reason: 'seen' });
    expect(openReview(after, 'odd', evidence)).toHaveLength(1);
  }
});

// --- Numbers

test('each is numbered as it is raised, over the life of what it is about', () => {
  const first = raisedIn(raisedIn(nobody, 'odd', {}), 'even', {});
  expect(first.reviews.map(({ number }) => number)).toEqual([1, 2]);
  const later = raisedIn(settled(first, { code: 'odd', resolution: 'found', reason: 'seen' }), 'odd', {});
  expect(later.reviews.map(({ code, number }) => [code, number])).toEqual([
    ['even', 2],
    ['odd', 3],
  ]);
  expect(later.reviewCount).toBe(3);
});

test('a person means one by its code and its number', () => {
  const open = raisedIn(raisedIn(nobody, 'odd', { number: 7 }), 'odd', { number: 8 });
  expect(findOpen(open, { code: 'odd', number: 2 })?.evidence['number']).toBe(8);
  expect(findOpen(open, { code: 'even', number: 2 })).toBeUndefined();
  expect(findOpen(open, { code: 'odd', number: 3 })).toBeUndefined();
});

test('an end with a number ends that one, and only its evidence is known', () => {
  const open = raisedIn(raisedIn(nobody, 'odd', { number: 7 }), 'odd', { number: 8 });
  const after = settled(open, { code: 'odd', number: 2, resolution: 'acknowledged', reason: 'seen' });
  expect(after.reviews.map(({ number }) => number)).toEqual([1]);
  expect(after.acknowledged.map(({ number }) => number)).toEqual([2]);
});

test('those that are over end in one event where nothing of their code is left, else one by one', () => {
  const open = [1, 2, 3].reduce((state, number) => raisedIn(state, 'odd', { number }), nobody);
  const endOf = (numbers: number[]) =>
    resolveWhere(open, ({ number }) => numbers.includes(number), 'found', 'told').map(({ data }) => data);
  const data = { code: 'odd', resolution: 'found', reason: 'told' };
  expect(endOf([1, 2, 3])).toEqual([data]);
  expect(endOf([1, 3])).toEqual([
    { ...data, number: 1 },
    { ...data, number: 3 },
  ]);
  expect(endOf([])).toEqual([]);
});

test('one may be open for each value of an entry; no entry is a value, too', () => {
  const open = raisedIn(nobody, 'odd', { token: 'a' });
  expect(openReviewPer(open, 'odd', { token: 'a', more: 1 }, 'token')).toEqual([]);
  expect(openReviewPer(open, 'odd', { token: 'b' }, 'token')).toHaveLength(1);
  expect(openReviewPer(open, 'odd', {}, 'token')).toHaveLength(1);
  const nameless = raisedIn(nobody, 'odd', {});
  expect(openReviewPer(nameless, 'odd', { token: null }, 'token')).toEqual([]);
});

test('evidence names what it was cut from', () => {
  const text = 'x'.repeat(10_000);
  const [raised] = openReview(nobody, 'odd', { text });
  expect(isAbout({ evidence: raised?.data.evidence ?? {} }, 'text', text)).toBe(true);
  expect(isAbout({ evidence }, 'missing', undefined)).toBe(true);
  expect(isAbout({ evidence }, 'text', null)).toBe(false);
});
