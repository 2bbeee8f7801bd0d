import { assertTimeBound } from '@tollgate/testing/time-bound';
import { describe, it } from 'vitest';
import { readCardForm } from './card-form.ts';
import { localise } from './texts.ts';

const header = 16 * 1024;

describe('takes at most 20 ms for any text', () => {
  it.each<[string, number, (text: string) => unknown]>([
    ['locale', 35, localise],
    ['card form', header, (text) => readCardForm(new URLSearchParams(formOf(text)), 0)],
  ])('%s (%d characters)', (_name, length, filter) => {
    assertTimeBound(filter, length);
  });
});

const formOf = (text: string) => ({ number: text, expiry: text, cvv: text, holder: text });
