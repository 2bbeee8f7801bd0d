import type { Core } from '../core.ts';
import { createSpendingGuard } from '../limits/spending.ts';
import type { Guard } from '../operations/guard.ts';
import { createApprovalGuard } from '../operations/payout-approval.ts';
import { createBalanceGuard } from '../positions/positions.ts';
import { positionsOf } from '../positions/testing/positions-of.ts';

/** The guards of the command service, in its order. */
export const allGuards = (core: Core): readonly Guard[] => [
  createSpendingGuard(core),
  createBalanceGuard(positionsOf(core)),
  createApprovalGuard(core),
];
