import { describeTimeBound } from '@tollgate/testing/time-bound';
import { readCardForm } from './card-form.ts';
import { localise } from './texts.ts';

const header = 16 * 1024;

describeTimeBound([
  ['locale', 35, localise],
  ['card form', header, (text) => readCardForm(new URLSearchParams(formOf(text)), 0)],
]);

const formOf = (text: string) => ({ number: text, expiry: text, cvv: text, holder: text });
