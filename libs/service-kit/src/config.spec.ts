import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { portSchema, readConfig } from './config.ts';

const schema = z.object({
  PORT: portSchema.default(3000),
  KEY: z.string().min(8, 'must have 8 characters').optional(),
});

describe('readConfig', () => {
  it('treats an empty variable as not set', () => {
    expect(readConfig(schema, { PORT: '', KEY: undefined })).toEqual({ PORT: 3000 });
  });

  it.each(['http', '-1', '65536', '80.5', ' ', '0x1F90', '1e4', '3000.0'])(
    'names the variable at fault (%s) and does not repeat its value',
    (port) => {
      expect(() => readConfig(schema, { PORT: port })).toThrow('PORT must be a port number from 0 to 65535');
    },
  );

  it('names every variable at fault', () => {
    expect(() => readConfig(schema, { PORT: 'x', KEY: 'hush' })).toThrow(
      /PORT .*; KEY must have 8 characters/,
    );
    expect(() => readConfig(schema, { PORT: 'x', KEY: 'hush' })).not.toThrow(/hush/);
  });
});
