export {
  createApprovalGuard,
  checkPayoutDestination,
  decidePayoutApproval,
  type DecidePayoutDependencies,
  type DecidePayoutInput,
} from './payout-approval.ts';
