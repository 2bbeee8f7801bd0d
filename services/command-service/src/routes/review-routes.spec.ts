import { bodySchemas } from '@tollgate/gateway-api/http';
import { describe, expect, it } from 'vitest';
import { parseBody } from './requests.ts';

const parseResolution = (body: unknown) => parseBody(bodySchemas.Resolution, body);
const minimal = { code: 'discrepancy', number: 1, resolution: 'keep_ours', reason: 'seen' };

describe('the body that resolves a review', () => {
  it.each(['discrepancy', 'payout_not_found', 'payout_not_found', 'capture_unresolved'])(
    'accepts the code %s, of a payment or a payout',
    (code) => {
      expect(parseResolution({ ...minimal, code })).toMatchObject({ kind: 'parsed', value: { code } });
    },
  );

  it('trims the reason', () => {
    expect(parseResolution({ ...minimal, reason: '  seen \n' })).toMatchObject({ value: { reason: 'seen' } });
  });

  it.each([
    ['an unknown code', { code: 'bad_weather' }, 'code'],
    ['a number of none', { number: 0 }, 'number'],
    ['a number that is a text', { number: '1' }, 'number'],
    ['no number', { number: undefined }, 'number'],
    ['an unknown resolution', { resolution: 'prayer' }, 'resolution'],
    ['an empty reason', { reason: '' }, 'reason'],
    ['a reason of nothing but spaces', { reason: '  \n' }, 'reason'],
    ['a reason that is too long', { reason: 'x'.repeat(1_001) }, 'reason'],
    ['a card number in the reason', { reason: 'the card 4392 9632 0355 1251' }, 'reason'],
    ['a card number with other separators', { reason: 'the card 4392,9632,0355,1251' }, 'reason'],
    ['a reason of two lines', { reason: 'seen\r\nforged' }, 'reason'],
    ['a reason that is no text', { reason: 7 }, 'reason'],
  ])('refuses %s and names the parameter', (_name, change, parameter) => {
    const parsed = parseResolution({ ...minimal, ...change });
    expect(parsed).toMatchObject({ kind: 'refused', errors: [{ parameter }] });
    expect(JSON.stringify(parsed)).not.toMatch(/1251/);
  });
});
