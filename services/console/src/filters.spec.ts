import { describeTimeBound } from '@tollgate/testing/time-bound';
import { parseAmount } from './components/amount.ts';
import { metadataIn } from './components/filters.ts';
import { toApiQuery } from './components/payment-query.ts';
import { instantIn } from './components/time.ts';
import { withoutSlashes } from './page.ts';
import { toFilters } from './pages/search.ts';

const address = 16 * 1024;
const body = 64 * 1024;

describeTimeBound([
  ['search', address, toFilters],
  ['typed metadata', address, (text) => metadataIn(new URLSearchParams({ metadata: text, [text]: text }))],
  ['filters of a list', address, (text) => toApiQuery(queryOf(text), 0)],
  ['path', address, withoutSlashes],
  ['amount', body, (text) => parseAmount(text, 'EUR')],
  ['instant', body, instantIn],
]);

const queryOf = (text: string) =>
  new URLSearchParams({
    from: text,
    to: text,
    amountFrom: text,
    status: text,
    currency: text,
    metadata: text,
  });
