export { requestRepublication } from './checkpoint.ts';
export * from './computed-topics.ts';
export * from './event-publisher.ts';
export { createRecordOf, publishedPrefixes, publishedTopics } from './topic-records.ts';
