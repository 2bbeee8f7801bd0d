import { describeTimeBound } from '@tollgate/testing/time-bound';
import { isToken } from '@tollgate/core';
import { isAllowedOrigin, normalizeOrigin } from '@tollgate/service-kit';
import { parseApiKey } from './api-key.ts';
import { createNetworkList, normalizeNetwork } from './networks.ts';
import { savedViewSchema } from './operators/saved-views.ts';

const header = 16 * 1024;
const body = 64 * 1024;

const networks = createNetworkList(['10.0.0.0/8']);
describeTimeBound([
  ['API key', header, parseApiKey],
  ['token', header, isToken],
  ['address of a caller', header, networks.has],
  ['network', body, normalizeNetwork],
  ['origin', body, normalizeOrigin],
  ['URL of an allowed origin', body, (text) => isAllowedOrigin(text, ['https://a.example:*'])],
  ['saved view', body, (text) => savedViewSchema.safeParse({ name: text, page: text, query: text })],
]);
