export { requestRepublication } from './checkpoint.ts';
export * from './computed-topics.ts';
export * from './event-publisher.ts';
export { createRecordOf, publishedTopics } from './topic-records.ts';
