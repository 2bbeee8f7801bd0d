import { expect, it } from 'vitest';
import { publicTopics } from './public-topics.ts';
import { gatewayTopics } from './topics.ts';
import { providerCallbacksTopic } from './callback-records.ts';

it('every topic that is written to is listed, once', () => {
  expect(gatewayTopics.map(({ topic }) => topic).toSorted()).toEqual(
    [...publicTopics.map(({ topic }) => topic), providerCallbacksTopic].toSorted(),
  );
});

it('the public topics keep every record forever', () => {
  const published = new Set(publicTopics.map(({ topic }) => topic));
  for (const { topic, retentionMs, cleanup } of gatewayTopics)
    if (published.has(topic)) expect([retentionMs, cleanup]).toEqual(['forever', 'delete']);
});
