import { inspect } from 'node:util';
import { Secret, silentLog } from '@tollgate/service-kit';
import { expect, it } from 'vitest';
import { createKafkaClient } from './connection.ts';

it('keeps the password out of everything that prints', () => {
  const sasl = {
    mechanism: 'plain',
    username: 'tollgate',
    password: new Secret('planted-password'),
  } as const;
  const options = { brokers: ['127.0.0.1:1'], clientId: 'spec', log: silentLog, ssl: true, sasl };
  const shown = inspect([options, createKafkaClient(options)], { depth: 12, showHidden: true });
  expect(shown).not.toContain('planted');
});
