/** Every command of `tollgate`, in the order of the help. */
import {
  type Command,
  argument,
  flag,
  option,
  optionalArgument,
  text,
} from '@tollgate/service-kit/command-line';
import { accountCommands } from './accounts.ts';
import { adopt, adoptParameters } from './adopt.ts';
import { auditParameters, showAudit, verifyLog } from './audit.ts';
import { back, verify } from './backups.ts';
import { keyCommands } from './keys.ts';
import { verifyLedger } from './ledger.ts';
import { operatorCommands } from './operators.ts';
import { hash } from './parameters.ts';
import { rebuildViews } from './rebuild.ts';
import { reconcile, reconcileParameters } from './reconcile.ts';
import { restore } from './restore.ts';
import { secretCommands, signingCommand } from './secrets.ts';
import { teamCommands } from './teams.ts';
import { type ActingTools, command } from './tools.ts';
import { tailCommand, topicCommands } from './topics.ts';
import { checkUpgrade, finishUpgrade } from './upgrade.ts';
import { webhookCommands } from './webhooks.ts';

export const commands: readonly Command<ActingTools>[] = [
  ...teamCommands,
  ...keyCommands,
  signingCommand,
  ...operatorCommands,
  ...accountCommands,
  ...secretCommands,
  command(
    'audit',
    'the security log: rejected callers, changes of teams and keys, exports, resolved reviews',
    auditParameters,
    showAudit,
  ),
  command(
    'audit verify',
    'check that no entry of the security log was changed, removed or inserted, and print the hash of the last entry\n' +
      'store that hash elsewhere: only it reveals missing entries at the end; exit code 1 if the check fails',
    { head: option('hash', 'a hash that was stored before', hash) },
    verifyLog,
  ),
  ...webhookCommands,
  tailCommand,
  command(
    'rebuild',
    'rebuild all views from the events and write those that differ; the gateway may run',
    { check: flag('only compare views and index with the events, and name what differs') },
    rebuildViews,
  ),
  command(
    'ledger verify',
    'recompute the balances of all wallets from the events and compare those of the index; the gateway may run\n' +
      'exit code 1 with each difference',
    {},
    verifyLedger,
  ),
  command(
    'upgrade check',
    'read the whole event store with this release and report what it cannot read; changes nothing',
    {},
    checkUpgrade,
  ),
  command(
    'upgrade finish',
    'raise the schema version of the store to that of this release; the previous release can then no longer start',
    {},
    finishUpgrade,
  ),
  ...topicCommands,
  command(
    'backup',
    'copy the embedded event store into a folder while the gateway runs',
    {
      folder: argument('folder', 'new or empty folder, on another disk', text),
      withSecrets: flag('include the secrets of the data directory'),
    },
    back,
  ),
  {
    ...command(
      'backup verify',
      'read a backup and report whether a gateway can be restored from it; needs no gateway\nexit code 1 if something is wrong',
      { folder: argument('folder', 'folder written by tollgate backup', text) },
      verify,
    ),
    isAlone: true,
  },
  command(
    'restore',
    'restore a backup into an empty data directory: all accounts are paused, payouts that awaited approval are void\n' +
      'the lost days must be reconciled before an account resumes; docs/operator/backup-and-restore.md',
    {
      backup: optionalArgument('backup', 'folder of the backup', text),
      storeWasRestored: flag('EventStoreDB was restored by its own tools: only begin the epoch'),
    },
    restore,
    ({ backup, storeWasRestored }) =>
      (backup === undefined) === storeWasRestored
        ? undefined
        : 'Give exactly one of <backup> and --store-was-restored',
  ),
  command(
    'reconcile',
    "have the running gateway compare an account's payments and payouts with the Payment Service; exit code 1 if something differs",
    reconcileParameters,
    reconcile,
  ),
  command(
    'adopt',
    'adopt existing payments of an account, and their recurring tokens, for a team\n' +
      'moves no money, and can be stopped and repeated',
    adoptParameters,
    adopt,
  ),
];
