export * from './embedded/embedded-message-bus.ts';
export * from './embedded/embedded-topic-reader.ts';
export * from './errors.ts';
export type { KafkaConnectionOptions, KafkaSasl } from './kafka/connection.ts';
export * from './kafka/kafka-message-bus.ts';
export * from './kafka/kafka-topic-reader.ts';
export * from './kafka/topic-specs.ts';
export * from './message-bus.ts';
export * from './topic-reader.ts';
