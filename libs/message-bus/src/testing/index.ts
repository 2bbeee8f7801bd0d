export { publishAsForeigner, removeTopics } from '../kafka/testing/foreign-client.ts';
