/** The teams' refunds: several of a payment, each perhaps twice, and together perhaps of more than there is. */
import { type CallerWorld, type Known, insist, post } from './caller.ts';
import type { TeamName } from './teams.ts';

/** One after the other, or several at once over the sum. */
export async function refunds(
  world: CallerWorld,
  team: TeamName,
  token: string,
  amount: number,
  /** What tells its keys from those of other refunds. */
  name: string,
): Promise<void> {
  const { random } = world;
  if (random.chance(0.3)) return;
  await world.sleep(random.between(500, 120_000));
  const count = random.whole(1, 4);
  const isAtOnce = random.chance(0.5);
  if (isAtOnce && count > 1) world.saw('several refunds at once');
  const each = Math.max(1, Math.floor((amount * random.between(0.2, 1.2)) / count));
  const one = async (index: number) => {
    const known: Known = { token: undefined };
    const request = post(team, 'refunds', { token, amount: each }, `refund-${name}-${index}`);
    const tries = random.chance(0.3) ? 2 : 1;
    if (tries === 2) world.saw('the same refund twice at once');
    await Promise.all(Array.from({ length: tries }, () => insist(world, request, known)));
  };
  if (isAtOnce) await Promise.all(Array.from({ length: count }, (_, index) => one(index)));
  else for (let index = 0; index < count; index += 1) await one(index);
}
