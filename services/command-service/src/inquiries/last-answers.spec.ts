import { expect, test } from 'vitest';
import { createLastAnswers } from './last-answers.ts';

test('remembers the latest answers of so many, and forgets the oldest', () => {
  const answers = createLastAnswers(2);
  expect(answers.of('a')).toBe(0);
  answers.note('a', 1);
  answers.note('b', 2);
  answers.note('a', 3);
  answers.note('c', 4);
  expect(['a', 'b', 'c'].map(answers.of)).toEqual([3, 0, 4]);
});
