import type { Core, Guard } from '@tollgate/core';
import { createApprovalGuard } from '@tollgate/approvals';
import { createLedgerGuard } from '@tollgate/ledger';
import { reservationsOf } from '@tollgate/ledger/testing';

/** The guards of the command service, in its order. */
export const allGuards = (core: Core): readonly Guard[] => [
  createLedgerGuard(reservationsOf(core)),
  createApprovalGuard(core),
];
