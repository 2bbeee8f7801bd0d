export { publishAsForeigner } from '../kafka/testing/foreign-producer.ts';
