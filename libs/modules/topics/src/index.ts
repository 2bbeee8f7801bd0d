export { requestRepublication } from './checkpoint.ts';
export { readTopic } from './computed-topics.ts';
export { createEventPublisher, type PublisherHealth } from './event-publisher.ts';
export { createRecordOf } from './topic-records.ts';
