export { publishAsForeigner } from '../kafka/testing/foreign-client.ts';
