import { apiErrorSchema } from '@tollgate/core/money';
import { describe, expect, it } from 'vitest';
import { errorKindByCode, apiError, isErrorCode, type ErrorCode } from './errors.ts';

describe('an error', () => {
  it.each(Object.keys(errorKindByCode) as ErrorCode[])('of the code %s has its kind', (code) => {
    expect(isErrorCode(code)).toBe(true);
    const error = apiError(code, 'text', 'amount');
    expect(apiErrorSchema.parse(error)).toEqual({
      code,
      kind: errorKindByCode[code],
      message: 'text',
      parameter: 'amount',
    });
  });

  it('names no parameter if there is none', () => {
    expect(apiError('invalid_json', 'text')).not.toHaveProperty('parameter');
  });

  it.each(['', 'constructor', 'toString', '__proto__', 'api_error'])('%j is not one of our codes', (code) => {
    expect(isErrorCode(code)).toBe(false);
  });
});
