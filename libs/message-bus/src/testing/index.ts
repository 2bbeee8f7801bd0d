export { publishAsForeigner } from '../kafka/foreign-producer.ts';
export { describeMessageBus, type OpenMessageBus } from './message-bus.contract.ts';
export { describeTopicReader, type OpenTopicReader } from './topic-reader.contract.ts';
