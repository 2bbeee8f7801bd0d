import { inspect } from 'node:util';
import { Secret, silentLog } from '@tollgate/service-kit';
import { expect, it, onTestFinished } from 'vitest';
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

it('keeps Node from warning of the timers of kafkajs, and of nothing else', async () => {
  createKafkaClient({ brokers: ['127.0.0.1:1'], clientId: 'spec', log: silentLog });
  const warned: string[] = [];
  const note = ({ name }: Error) => void warned.push(name);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  process.emitWarning('-5 is a negative number.', 'TimeoutNegativeWarning');
  process.emitWarning('of this spec', 'OtherWarning');
  await expect.poll(() => warned).toContain('OtherWarning');
  expect(warned).not.toContain('TimeoutNegativeWarning');
});
