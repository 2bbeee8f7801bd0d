import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { Secret } from './secret.ts';

it('reveals its text only by name', () => {
  const secret = new Secret('hush');
  expect(secret.reveal()).toBe('hush');
  const shown = [String(secret), JSON.stringify({ secret }), inspect(secret, { depth: 9, showHidden: true })];
  shown.push(inspect({ deep: [secret] }, { depth: 9 }), JSON.stringify(Object.entries(secret)));
  for (const text of shown) expect(text).not.toContain('hush');
});
