import { describe, expect, it } from 'vitest';
import { cardBehaviour, looksLikeCardNumber, maskCardNumber } from './cards.ts';
import {
  approvedCard,
  authenticatedCard,
  authenticatedDeclinedCard,
  declinedCard,
} from './testing/samples.ts';

describe('a card', () => {
  it.each([
    [approvedCard, 'approved', false],
    [declinedCard, 'declined', false],
    [authenticatedCard, 'approved', true],
    [authenticatedDeclinedCard, 'declined', true],
    ['4111111111111111', 'declined', false],
    ['000000000000', 'declined', false],
  ])('%s is %s, needing authentication: %s', (pan, outcome, needsAuthentication) => {
    expect(cardBehaviour(pan)).toMatchObject({ outcome, needsAuthentication });
  });

  it('is kept as a mask of the first six and the last four digits', () => {
    expect(maskCardNumber(approvedCard)).toBe('439296******1251');
  });

  it('shows the last four digits alone where six more would leave too few hidden', () => {
    expect(maskCardNumber('123456789012')).toBe('******9012');
  });

  it.each(['', '12345678901', '12345678901234567890', '4392 9632', '４３９２９６３２０３５５１２５１'])(
    'has 12 to 19 digits, so %j is none',
    (text) => {
      expect(looksLikeCardNumber(text)).toBe(false);
    },
  );
});
