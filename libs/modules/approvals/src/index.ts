export {
  createApprovalGuard,
  decidePayoutApproval,
  type DecidePayoutDependencies,
  type DecidePayoutInput,
} from './payout-approval.ts';
