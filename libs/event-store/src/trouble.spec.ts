import type { Log } from '@tollgate/service-kit';
import { expect, it } from 'vitest';
import { createTrouble } from './trouble.ts';

// A store that was unavailable for 55 seconds caused 1,278 lines.
it('is logged when it begins and when it is over, however often it fails in between', () => {
  const lines: string[] = [];
  const at = (level: string) => (_fields: object, message: string) => void lines.push(`${level} ${message}`);
  const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const trouble = createTrouble(log, { failing: 'away', over: 'back' });
  trouble.worked();
  for (let count = 0; count < 3; count += 1) trouble.failed({ operation: 'x' });
  trouble.worked();
  trouble.worked();
  trouble.failed({ operation: 'x' });
  expect(lines).toEqual(['warn away', 'debug away', 'debug away', 'info back', 'warn away']);
});
