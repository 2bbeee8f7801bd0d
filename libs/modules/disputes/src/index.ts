export { createDisputesPoller, type DisputesPollerDependencies } from './disputes-poller.ts';
