export { requestRepublication } from './checkpoint.ts';
export * from './computed-topics.ts';
export * from './event-publisher.ts';
export { type RecordOf, createRecordOf, publishedPrefixes, publishedTopics } from './topic-records.ts';
