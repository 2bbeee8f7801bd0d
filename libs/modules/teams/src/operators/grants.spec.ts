import { describe, expect, it } from 'vitest';
import type { CallerScope } from '../authentication.ts';
import { scopes } from '../team.ts';
import {
  everywhere,
  formatGrants,
  grantsSchema,
  mayDo,
  mergeGrants,
  parseGrant,
  reachOf,
  scopesToGive,
  scopesWithin,
  operatorRoles,
  rightsOf,
} from './grants.ts';

const shop = { team: 'shop', environment: 'sandbox' } as const;
const games = { team: 'games', environment: 'sandbox' } as const;
const read: readonly CallerScope[] = ['operators:read'];

describe('a grant', () => {
  it.each([
    ['viewer', 'viewer'],
    ['support:*:*', 'support'],
    ['support: shop , games', 'support:shop,games'],
    ['lead:shop:production', 'lead:shop:production'],
    ['operator:*:sandbox', 'operator:*:sandbox'],
    ['lead:shop,shop:sandbox,production', 'lead:shop:sandbox,production'],
  ])('with the text %s is %s', (text, written) => {
    expect(formatGrants([parseGrant(text)])).toBe(written);
  });

  it.each([
    ['owner:shop', 'The role must be one of viewer, support, lead, operator, admin.'],
    ['lead:Shop', 'Teams must be * or names of teams, separated by commas.'],
    ['lead:', 'Teams must be * or names of teams, separated by commas.'],
    ['lead:shop,*', 'Teams must be * or names of teams, separated by commas.'],
    ['lead:shop:staging', 'Environments must be * or of sandbox, production, separated by commas.'],
    ['lead:shop:sandbox:x', 'A grant is role:teams:environments.'],
  ])('with the text %s is refused', (text, message) => {
    expect(() => parseGrant(text)).toThrow(new RangeError(message));
  });

  it('names few enough teams for a cookie', () => {
    const teams = Array.from({ length: 26 }, (_, place) => `team-${place}`);
    const grant = { role: 'viewer', environments: '*' } as const;
    expect(grantsSchema.safeParse([{ ...grant, teams }]).success).toBe(false);
    expect(grantsSchema.safeParse([{ ...grant, teams: teams.slice(1) }]).success).toBe(true);
    expect(grantsSchema.safeParse([]).success).toBe(false);
  });
});

describe('the reach of a person', () => {
  it('is that of the grants with the scope, and nothing else', () => {
    const grants = [parseGrant('support:shop:sandbox'), parseGrant('viewer:games')];
    const reach = reachOf(grants, read);
    expect(reach.includes(shop)).toBe(true);
    expect(reach.includes({ ...shop, environment: 'production' })).toBe(false);
    expect(reach.includes({ ...games, environment: 'production' })).toBe(true);
    // Objects without a team require a reach of everything.
    expect(reach.includes({ environment: 'sandbox' })).toBe(false);
    expect(reach.isEverywhere).toBe(false);
    const owners = reach.ownersAmong(['games', 'shop', 'tea']);
    expect(owners).toHaveLength(3);
    expect(owners).toEqual(expect.arrayContaining([shop, games, { ...games, environment: 'production' }]));
    expect(reach.ownersAmong(['shop'], 'production')).toEqual([]);
    const acting = reachOf(grants, ['operators:act']);
    expect([acting.includes(shop), acting.includes(games)]).toEqual([true, false]);
  });

  it('is everything by one grant alone: two halves exclude objects without a team', () => {
    expect(reachOf(everywhere('viewer'), read).isEverywhere).toBe(true);
    const halves = [parseGrant('viewer:*:sandbox'), parseGrant('viewer:*:production')];
    expect(reachOf(halves, read).isEverywhere).toBe(false);
    // A grant of both environments was refused as if one were missing.
    const named = [parseGrant('viewer:*:sandbox,production')];
    expect(reachOf(named, read).isEverywhere).toBe(true);
    expect(reachOf([parseGrant('viewer:shop:sandbox,production')], read).isEverywhere).toBe(false);
  });

  it.each(operatorRoles)('as %s in one team gives no right in another team or environment', (role) => {
    const grants = [{ role, teams: ['shop'], environments: ['sandbox' as const] }];
    expect(new Set(scopesWithin(grants, shop))).toEqual(new Set(rightsOf[role].within));
    expect(scopesWithin(grants, games)).toEqual([]);
    expect(scopesWithin(grants, { ...shop, environment: 'production' })).toEqual([]);
    expect(mayDo(grants, 'operators:read', 'everywhere')).toBe(false);
  });
});

it("a lead gives a key at most a lead's scopes; an admin gives it any", () => {
  expect(scopesToGive([parseGrant('lead:shop')], shop)).toEqual([
    ...(['payments', 'refunds', 'read', 'stored-cards'] as const),
  ]);
  expect(scopesToGive([parseGrant('lead:shop')], games)).toEqual([]);
  expect(scopesToGive(everywhere('admin'), shop)).toEqual(scopes);
});

it.each([
  [['viewer', 'admin'], 'admin'],
  [['lead', 'operator'], 'lead operator'],
  [['support:shop', 'support:games', 'support:shop'], 'support:shop,games'],
  [['support:shop:sandbox', 'support:games'], 'support:shop:sandbox support:games'],
  [['support:shop', 'support'], 'support'],
])('%j are %s together', (texts, written) => {
  expect(formatGrants(mergeGrants(texts.map(parseGrant)))).toBe(written);
});
