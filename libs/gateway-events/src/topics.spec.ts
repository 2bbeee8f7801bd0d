import { expect, it } from 'vitest';
import { publicTopics } from './asyncapi/public-topics.ts';
import { providerCallbacksDlqTopic, providerCallbacksTopic } from './callback-records.ts';
import { gatewayTopics } from './topics.ts';

it('every topic that is written to is made, once', () => {
  expect(gatewayTopics.map(({ topic }) => topic).toSorted()).toEqual(
    [...publicTopics.map(({ topic }) => topic), providerCallbacksTopic, providerCallbacksDlqTopic].toSorted(),
  );
});

it('the public topics keep every record for ever', () => {
  const published = new Set(publicTopics.map(({ topic }) => topic));
  for (const { topic, retentionMs, cleanup } of gatewayTopics)
    if (published.has(topic)) expect([retentionMs, cleanup]).toEqual(['forever', 'delete']);
});
