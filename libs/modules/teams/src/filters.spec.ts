import { assertTimeBound } from '@tollgate/testing/time-bound';
import { describe, it } from 'vitest';
import { isToken } from '@tollgate/core';
import { isAllowedOrigin, normalizeOrigin } from '@tollgate/service-kit';
import { parseApiKey } from './api-key.ts';
import { createNetworkList, normalizeNetwork } from './networks.ts';
import { savedViewSchema } from './operators/saved-views.ts';

const header = 16 * 1024;
const body = 64 * 1024;

describe('takes at most 20 ms for any text', () => {
  const networks = createNetworkList(['10.0.0.0/8']);
  it.each<[string, number, (text: string) => unknown]>([
    ['API key', header, parseApiKey],
    ['token', header, isToken],
    ['address of a caller', header, networks.has],
    ['network', body, normalizeNetwork],
    ['origin', body, normalizeOrigin],
    ['URL of an allowed origin', body, (text) => isAllowedOrigin(text, ['https://a.example:*'])],
    ['saved view', body, (text) => savedViewSchema.safeParse({ name: text, page: text, query: text })],
  ])('%s (%d characters)', (_name, length, filter) => {
    assertTimeBound(filter, length);
  });
});
