/** The scopes of each role. The grant that names the role limits its teams and environments. */
import { z } from 'zod';
import type { Scope } from '../team.ts';

export const operatorRoles = ['viewer', 'support', 'lead', 'operator', 'admin'] as const;
export const operatorRoleSchema = z.enum(operatorRoles);
export type OperatorRole = z.infer<typeof operatorRoleSchema>;

/**
 * Scopes of persons, which no key has. `operators:read` reads across teams, `operators:act` starts what moves no money,
 * `operators:teams` manages keys and webhook endpoints of teams, `operators:accounts` decides which merchant accounts are
 * called, `operators:manage` sets what bounds a team.
 */
export const operatorScopes = [
  'operators:read',
  'operators:act',
  'operators:teams',
  'operators:accounts',
  'operators:manage',
] as const;
export type OperatorScope = (typeof operatorScopes)[number];

/** `self`: every person has it, for what is the person's own. `sign-in`: a link has it alone. No role gives them. */
export const personScopes = ['self', 'sign-in'] as const;
export type PersonScope = (typeof personScopes)[number];

interface Rights {
  /** For the routes across teams. */
  across: readonly OperatorScope[];
  /** For the routes of the team that the request names. */
  within: readonly (Scope | OperatorScope)[];
}

const viewer: Rights = { across: ['operators:read'], within: ['read'] };
const support: Rights = {
  across: [...viewer.across, 'operators:act'],
  within: [...viewer.within, 'payments', 'refunds'],
};
/** A key that a lead issues has at most these scopes of keys. */
const lead: Rights = {
  across: [...support.across, 'operators:teams'],
  within: [...support.within, 'stored-cards', 'operators:teams'],
};
const operator: Rights = {
  across: [...support.across, 'operators:accounts'],
  within: [...support.within, 'stored-cards', 'payouts', 'admin'],
};

/** An operator resolves reviews, but releases no money alone and lets nobody in: second approvals and keys are for admins. */
const admin: Rights = {
  across: [...operator.across, 'operators:teams', 'operators:manage'],
  within: [...operator.within, 'approvals', 'operators:teams'],
};

export const rightsOf: Readonly<Record<OperatorRole, Rights>> = { viewer, support, lead, operator, admin };
