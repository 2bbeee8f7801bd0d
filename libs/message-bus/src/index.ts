export * from './embedded/embedded-message-bus.ts';
export * from './embedded/embedded-message-bus.ts';
export { topicStreamPrefix } from './embedded/records.ts';
export type { KafkaConnectionOptions } from './kafka/connection.ts';
export type { TopicDifference, TopicSpec } from './kafka/topic-specs.ts';
export * from './message-bus.ts';
export * from './topic-prefix.ts';
