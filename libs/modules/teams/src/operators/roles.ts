/** The scopes of each role. The grant that names the role limits its teams and environments. */
import { z } from 'zod';
import type { Scope } from '../team.ts';

export const operatorRoles = ['viewer', 'support', 'lead', 'operator', 'admin'] as const;
export const operatorRoleSchema = z.enum(operatorRoles);
export type OperatorRole = z.infer<typeof operatorRoleSchema>;

/**
 * Scopes of people only, not of keys. `operators:read` reads across teams, `operators:act` triggers operations that move no
 * money, `operators:teams` manages keys and webhook endpoints of teams, `operators:accounts` decides which merchant accounts
 * are called, `operators:manage` sets the limits of a team.
 */
export const operatorScopes = [
  'operators:read',
  'operators:act',
  'operators:teams',
  'operators:accounts',
  'operators:manage',
] as const;
export type OperatorScope = (typeof operatorScopes)[number];

/** `self`: every person has it, for the person's own objects. `sign-in`: only a link has it. No role grants them. */
export const personScopes = ['self', 'sign-in'] as const;
export type PersonScope = (typeof personScopes)[number];

interface Rights {
  /** For the routes across teams. */
  across: readonly OperatorScope[];
  /** For the routes of the team in the request. */
  within: readonly (Scope | OperatorScope)[];
}

const viewer: Rights = { across: ['operators:read'], within: ['read'] };
const support: Rights = {
  across: [...viewer.across, 'operators:act'],
  within: [...viewer.within, 'payments', 'refunds'],
};
/** Maximum scopes of a key that a lead issues. */
const lead: Rights = {
  across: [...support.across, 'operators:teams'],
  within: [...support.within, 'stored-cards', 'operators:teams'],
};
const operator: Rights = {
  across: [...support.across, 'operators:accounts'],
  within: [...support.within, 'stored-cards', 'payouts', 'admin'],
};

/**
 * An operator resolves reviews, but releases no money alone and creates no access: second approvals and keys are for admins.
 */
const admin: Rights = {
  across: [...operator.across, 'operators:teams', 'operators:manage'],
  within: [...operator.within, 'approvals', 'operators:teams'],
};

export const rightsOf: Readonly<Record<OperatorRole, Rights>> = { viewer, support, lead, operator, admin };
