import { assertTimeBound } from '@tollgate/testing/time-bound';
import { describe, it } from 'vitest';
import { parseAmount } from './components/amount.ts';
import { metadataIn } from './components/filters.ts';
import { toApiQuery, wrongFilters } from './components/payment-query.ts';
import { instantIn } from './components/time.ts';
import { withoutSlashes } from './page.ts';
import { toFilters } from './pages/search.ts';

const address = 16 * 1024;
const body = 64 * 1024;

describe('takes at most 20 ms for any text', () => {
  it.each<[string, number, (text: string) => unknown]>([
    ['search', address, toFilters],
    ['typed metadata', address, (text) => metadataIn(new URLSearchParams({ metadata: text, [text]: text }))],
    ['filters of a list', address, (text) => toApiQuery(queryOf(text), 0)],
    ['wrong filters', address, (text) => wrongFilters(queryOf(text))],
    ['path', address, withoutSlashes],
    ['amount', body, (text) => parseAmount(text, 'EUR')],
    ['instant', body, instantIn],
  ])('%s (%d characters)', (_name, length, filter) => {
    assertTimeBound(filter, length);
  });
});

const queryOf = (text: string) =>
  new URLSearchParams({
    from: text,
    to: text,
    amountFrom: text,
    status: text,
    currency: text,
    metadata: text,
  });
