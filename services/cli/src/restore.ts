/** `restore`: begins a new epoch on a restored store. The program has already put the backup in place. */
import { type CommandResult, done } from '@tollgate/service-kit/command-line';
import { type CommandTools, causeOf, number, recordAction, stopSignalOf } from './tools.ts';
import { daysToReconcile, startEpoch } from '@tollgate/merchant-accounts';

export async function restore(
  tools: CommandTools,
  { backup }: { backup: string | undefined },
): Promise<CommandResult> {
  await recordAction(tools, 'restore', { backup: backup ?? 'by the tools of the store' });
  const { voidedPayouts, ...epoch } = await startEpoch(tools, causeOf(tools), stopSignalOf(tools));
  tools.endRestore?.();
  const days = daysToReconcile(epoch);
  const [from, to] = [days[0], days.at(-1)];
  const text = [
    `The backup is in place. Its last payment or payout event is of ${new Date(epoch.lastEventAt).toISOString()}. Later ones are lost.`,
    `All accounts are paused. Payouts that awaited approval are void: ${number(voidedPayouts)}.`,
    `Start the gateway, and for each account: reconcile --from ${from} --to ${to}, resolve what it opens, account resume.`,
  ].join('\n');
  return done(text, { ...epoch, voidedPayouts, from, to });
}
