/** The scopes of each role, and the grants of a person: each is a role over some teams and environments. */
import { type Environment, environmentSchema } from '@tollgate/core';
import { z } from 'zod';
import { type Scope, scopes, teamNameSchema } from '../team.ts';
import type { CallerScope } from '../authentication.ts';

export const operatorRoles = ['viewer', 'support', 'lead', 'operator', 'admin'] as const;
const operatorRoleSchema = z.enum(operatorRoles);
export type OperatorRole = z.infer<typeof operatorRoleSchema>;

/**
 * Scopes of people only, not of keys. `operators:read` reads across teams, `operators:act` triggers operations that move no
 * money, `operators:teams` manages keys and webhook endpoints of teams, `operators:accounts` decides which merchant accounts
 * are called, `operators:manage` sets the limits of a team.
 */
export type OperatorScope =
  'operators:read' | 'operators:act' | 'operators:teams' | 'operators:accounts' | 'operators:manage';

/** `self`: every person has it, for the person's own objects. `sign-in`: only a link has it. No role grants them. */
export type PersonScope = 'self' | 'sign-in';

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

/** Maximum grants of one person, and maximum teams named in all of them together. */
const grantsMax = 10;
const teamsMax = 25;

const all = z.literal('*');
const grantSchema = z.strictObject({
  role: operatorRoleSchema,
  teams: z.union([all, z.array(teamNameSchema).min(1)]),
  environments: z.union([all, z.array(environmentSchema).min(1)]),
});
/** `*`: all, including those added later. */
export type Grant = z.infer<typeof grantSchema>;

export const grantsSchema = z
  .array(grantSchema)
  .min(1)
  .max(grantsMax, `must be at most ${grantsMax} grants`)
  .refine(
    (grants) => grants.flatMap(({ teams }) => teams).length <= teamsMax,
    `must name at most ${teamsMax} teams; grant all teams with *`,
  );
export type Grants = readonly Grant[];

/** The owner of an object. */
interface Owner {
  team: string;
  environment: Environment;
}

export const everywhere = (role: OperatorRole): Grant[] => [{ role, teams: '*', environments: '*' }];

const covers = ({ teams, environments }: Grant, owner: { team?: string; environment?: string }): boolean =>
  (teams === '*' || owner.team === undefined || teams.includes(owner.team)) &&
  (environments === '*' || environments.some((each) => each === (owner.environment ?? each)));

/** By `*` or by the names of all environments. */
const isEverywhere = (grant: Grant): boolean =>
  grant.teams === '*' && environmentSchema.options.every((environment) => covers(grant, { environment }));

/** Scopes for the routes of this team in this environment; none if no grant covers it. */
export const scopesWithin = (grants: Grants, owner: Owner): CallerScope[] =>
  grants.filter((grant) => covers(grant, owner)).flatMap(({ role }) => rightsOf[role].within);

/** The reach of a person with a scope across teams. */
export interface Reach {
  /** Everything, including objects without a team. */
  readonly isEverywhere: boolean;
  readonly isSomewhere: boolean;
  includes(owner: { team?: string | undefined; environment: string }): boolean;
  /** In at least one environment. */
  includesTeam(team: string): boolean;
  /** The reachable teams of these, by environment. */
  ownersAmong(teams: readonly string[], environment?: Environment): Owner[];
}

export function reachOf(grants: Grants, wanted: readonly CallerScope[]): Reach {
  const counting = grants.filter(({ role }) => rightsOf[role].across.some((scope) => wanted.includes(scope)));
  const includes: Reach['includes'] = ({ team = '', environment }) =>
    counting.some((grant) => covers(grant, { team, environment }));
  return {
    isEverywhere: counting.some(isEverywhere),
    isSomewhere: counting.length > 0,
    includes,
    includesTeam: (team) => counting.some((grant) => covers(grant, { team })),
    ownersAmong: (teams, only) =>
      environmentSchema.options
        .filter((environment) => (only ?? environment) === environment)
        .flatMap((environment) => teams.map((team) => ({ environment, team })).filter(includes)),
  };
}

/** True if a person has a scope there. Objects without a team require a grant for everything. */
export const mayDo = (
  grants: Grants,
  scope: CallerScope,
  where: { team?: string; environment?: string } | 'everywhere',
): boolean =>
  grants.some((grant) => {
    const { across, within } = rightsOf[grant.role];
    const isThere = where === 'everywhere' ? isEverywhere(grant) : covers(grant, where);
    const given: readonly CallerScope[] = [...across, ...within];
    return isThere && given.includes(scope);
  });

/** Scopes that a person may give to a key of that team. */
export const scopesToGive = (grants: Grants, owner: Owner): Scope[] =>
  mayDo(grants, 'operators:manage', owner)
    ? [...scopes]
    : scopes.filter((scope) => scopesWithin(grants, owner).includes(scope));

/** The same rights in fewer grants: a credential has to fit into a cookie. */
export function mergeGrants(grants: Grants): Grant[] {
  const alike = Map.groupBy(grants, ({ role, environments }) => `${role} ${String(environments)}`);
  const merged = [...alike.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const teams = group.flatMap((grant) => grant.teams);
    return [{ ...first, teams: teams.includes('*') ? ('*' as const) : [...new Set(teams)] }];
  });
  return merged.filter((grant) => !merged.some((other) => other !== grant && isPartOf(grant, other)));
}

const isPartOf = (grant: Grant, other: Grant): boolean =>
  isEverywhere(other) &&
  rightsOf[grant.role].across.every((scope) => rightsOf[other.role].across.includes(scope)) &&
  rightsOf[grant.role].within.every((scope) => rightsOf[other.role].within.includes(scope));

/** For people: `support:shop,games:sandbox`, and the role alone if it applies everywhere. */
export const formatGrants = (grants: Grants): string =>
  grants
    .map(({ role, teams, environments }) => {
      const parts = environments === '*' ? (teams === '*' ? [] : [teams]) : [teams, environments];
      return [role, ...parts.map(String)].join(':');
    })
    .join(' ');

/** Reads `role[:teams[:environments]]`. @throws RangeError with the fault */
export function parseGrant(text: string): Grant {
  const [role = '', teams = '*', environments = '*', ...rest] = text.split(':').map((part) => part.trim());
  if (rest.length > 0) throw new RangeError('A grant is role:teams:environments.');
  return toGrant(role, teams, environments);
}

/** Teams and environments as lists with commas, or `*`. @throws RangeError with the fault */
export function toGrant(role: string, teams: string, environments: string): Grant {
  const known = operatorRoleSchema.safeParse(role).data;
  if (known === undefined) throw new RangeError(`The role must be one of ${operatorRoles.join(', ')}.`);
  const grant = grantSchema.safeParse({
    role: known,
    teams: toList(teams),
    environments: toList(environments),
  });
  if (grant.success) return grant.data;
  const isTeam = grant.error.issues.some(({ path }) => path[0] === 'teams');
  throw new RangeError(
    isTeam
      ? 'Teams must be * or names of teams, separated by commas.'
      : `Environments must be * or of ${environmentSchema.options.join(', ')}, separated by commas.`,
  );
}

const toList = (text: string): string | string[] =>
  text.trim() === '*' ? '*' : [...new Set(text.split(',').map((part) => part.trim()))];
