export { describeMessageBus, type OpenMessageBus } from './message-bus.contract.ts';
