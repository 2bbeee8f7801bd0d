/** What a person who operates the gateway may do, by role. */
import { z } from 'zod';
import type { Scope } from '../team.ts';

export const operatorRoles = ['viewer', 'support', 'operator', 'admin'] as const;
export const operatorRoleSchema = z.enum(operatorRoles);
export type OperatorRole = z.infer<typeof operatorRoleSchema>;

/**
 * What no key of a team has: `operators:read` reads across teams, `operators:act` sets off what moves no money,
 * `operators:accounts` decides which merchant accounts are called, `operators:manage` changes who may call.
 */
export const operatorScopes = [
  'operators:read',
  'operators:act',
  'operators:accounts',
  'operators:manage',
] as const;
export type OperatorScope = (typeof operatorScopes)[number];

interface Rights {
  /** Of the routes across teams. */
  across: readonly OperatorScope[];
  /** Of the routes of the team that the request names. */
  within: readonly Scope[];
}

const viewer: Rights = { across: ['operators:read'], within: ['read'] };
const support: Rights = {
  across: [...viewer.across, 'operators:act'],
  within: [...viewer.within, 'payments', 'refunds'],
};
const operator: Rights = {
  across: [...support.across, 'operators:accounts'],
  within: [...support.within, 'payouts', 'admin'],
};

/** An operator resolves reviews, but releases no money alone and lets nobody in: second approvals and keys are for admins. */
const admin: Rights = {
  across: [...operator.across, 'operators:manage'],
  within: [...operator.within, 'approvals'],
};

export const rightsOf: Readonly<Record<OperatorRole, Rights>> = { viewer, support, operator, admin };
