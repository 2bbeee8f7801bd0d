import type { Core, Guard } from '@tollgate/core';
import { createApprovalGuard } from '@tollgate/approvals';
import { createBalanceAndLimitGuard } from '@tollgate/wallets';
import { reservationsOf } from '@tollgate/wallets/testing';

/** The guards of the command service, in its order. */
export const allGuards = (core: Core): readonly Guard[] => [
  createBalanceAndLimitGuard(reservationsOf(core)),
  createApprovalGuard(core),
];
