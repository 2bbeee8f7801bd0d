/** Apart from the package itself, so that the client of Kafka is loaded only where Kafka is used. */
export * from './kafka-message-bus.ts';
export * from './topic-specs.ts';
