import { expect, it } from 'vitest';
import { soleTeamOf } from './sole-team.ts';

const account = (name: string, teams?: string[]) => ({
  environment: 'sandbox' as const,
  name,
  ...(teams === undefined ? {} : { teams }),
});
const accounts = [account('all'), account('one', ['shop']), account('two', ['shop', 'games'])];

it.each([
  ['all', ['shop'], 'shop'],
  ['all', ['shop', 'games'], undefined],
  ['all', [], undefined],
  ['one', ['shop', 'games'], 'shop'],
  ['two', ['shop'], undefined],
])('an account %s among the teams %j belongs to %s alone', (name, teams, team) => {
  expect(soleTeamOf(accounts, teams, { environment: 'sandbox', account: name })).toBe(team);
});
