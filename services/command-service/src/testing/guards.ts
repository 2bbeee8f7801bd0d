import type { Core, Guard } from '@tollgate/core';
import { createSpendingGuard } from '@tollgate/limits';
import { createApprovalGuard } from '@tollgate/approvals';
import { createBalanceGuard } from '@tollgate/balances';
import { positionsOf } from '@tollgate/balances/testing';

/** The guards of the command service, in its order. */
export const allGuards = (core: Core): readonly Guard[] => [
  createSpendingGuard(core),
  createBalanceGuard(positionsOf(core)),
  createApprovalGuard(core),
];
