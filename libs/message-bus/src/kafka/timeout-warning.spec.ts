import { expect, it } from 'vitest';
import { hideTimeoutNegativeWarning } from './connection.ts';

const warned = (name: string) => Object.assign(new Error('text'), { name });

it('hides TimeoutNegativeWarning, however it is emitted, and no other warning', () => {
  const shown: unknown[] = [];
  const target = { emitWarning: (...args: unknown[]) => void shown.push(args[0]) };
  hideTimeoutNegativeWarning(target);
  hideTimeoutNegativeWarning(target);
  target.emitWarning('-5 is a negative number.', 'TimeoutNegativeWarning');
  target.emitWarning('-5 is a negative number.', { type: 'TimeoutNegativeWarning' });
  target.emitWarning(warned('TimeoutNegativeWarning'));
  expect(shown).toEqual([]);
  const others = ['TimeoutNegativeWarning', warned('DeprecationWarning')];
  for (const warning of others) target.emitWarning(warning);
  target.emitWarning('text', 'TimeoutOverflowWarning');
  expect(shown).toEqual([...others, 'text']);
});
