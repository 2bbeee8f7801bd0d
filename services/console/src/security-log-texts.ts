/** The sentences of the security log. */

/** A person's credential has the id `person:<name>`. */
const holderOf = (keyId: string, team: string): string =>
  keyId.startsWith('person:') ? keyId.slice('person:'.length) : `Key ${keyId} of team ${team}`;

export const securityLogTexts = {
  says: {
    refused: (count: number, address: string, code: string, call: string) =>
      `${count === 1 ? 'A request' : `${count} requests`} from ${address} ${count === 1 ? 'was' : 'were'} rejected with ${code}${call === '' ? '' : `: ${call}`}.`,
    exported: (keyId: string, team: string, route: string, count: number) =>
      `${holderOf(keyId, team)} exported ${route}${count === 1 ? '' : ` ${count} times`}.`,
    resolved: (who: string, code: string, resolution: string) =>
      `${who} resolved “${code}” with “${resolution}”:`,
    ignored: (revision: number, stream: string, reason: string) =>
      `Event ${revision} of ${stream} is ignored: ${reason}.`,
    ran: (who: string) => `${who} ran`,
    added: (who: string) => `${who} added team`,
    issued: (who: string, keyId: string) => `${who} issued key ${keyId} to team`,
    revoked: (who: string, keyId: string) => `${who} revoked key ${keyId} of team`,
    replaced: ', which another key replaced',
    rotated: (who: string) => `${who} rotated the webhook secret of team`,
    changed: (who: string, what: string) => `${who} changed the ${what} of team`,
    raised: (who: string, what: string) => `${who} raised the ${what} of team`,
    lowered: (who: string, what: string) => `${who} lowered the ${what} of team`,
    set: (who: string, what: string) => `${who} set the ${what} of team`,
    removed: (who: string, what: string) => `${who} removed the ${what} of team`,
    was: (sum: string) => `, which was ${sum}`,
    to: (sum: string) => `to ${sum}`,
    fromTo: (before: string, after: string) => ` from ${before} to ${after}.`,
  },
  payouts: {
    approve: (who) => `${who} approved payout`,
    refuse: (who) => `${who} refused payout`,
    destination_confirmed: (who) => `${who} confirmed the account number of payout`,
    destination_differs: (who) => `${who} compared another account number with payout`,
  } as Readonly<Record<string, (who: string) => string>>,
  perDay: (operation: string) => `daily ${operation} limit`,
  perCall: (operation: string) => `${operation} limit per call`,
  threshold: 'payout approval threshold',
  wallet: 'source of payouts',
  purposes: { callback: 'webhook origins', redirect: 'redirect origins' } as Readonly<Record<string, string>>,
  ofKey: (keyId: string) => `key ${keyId},`,
  nothing: 'none',
  unknown: 'Unknown',
  key: holderOf,
  service: (name: string) => `The service ${name}`,
  commands: {
    'POST /api/v1/admin/keys': 'requested a key',
    'POST /api/v1/admin/keys/:keyId/revoke': 'requested the revocation of a key',
    'POST /api/v1/admin/teams': 'requested a team',
    'POST /api/v1/admin/teams/:team/origins': 'requested allowed origins',
    'POST /api/v1/admin/teams/:team/wallet': 'requested a source of payouts',
    'POST /api/v1/admin/teams/:team/approvals': 'requested an approval threshold',
    'POST /api/v1/admin/teams/:team/limits': 'requested a limit',
    'POST /api/v1/admin/accounts/:environment/:account/pause': 'paused an account',
    'POST /api/v1/admin/accounts/:environment/:account/drain': 'drained an account',
    'POST /api/v1/admin/accounts/:environment/:account/resume': 'resumed an account',
    'POST /api/v1/admin/accounts/reload': 'reloaded the accounts file',
    'POST /api/v1/admin/webhooks/replay': 'resent webhooks',
    'POST /api/v1/admin/reconciliations': 'requested a reconciliation',
    'POST /api/v1/refunds': 'requested a refund',
    'POST /api/v1/payments/capture': 'requested a capture',
    'POST /api/v1/payments/void': 'requested a void',
    'POST /api/v1/payments': 'created a payment',
    'POST /api/v1/admin/sign-ins': 'signed in',
    'operator link': 'issued a sign-in link',
  } as Readonly<Record<string, string>>,
  changes: {
    TeamAdded: 'Team added',
    KeyIssued: 'Key issued',
    KeyRevoked: 'Key revoked',
    MoneyLimited: 'Limit',
    ApprovalRequired: 'Approval threshold',
    WalletChosen: 'Source of payouts',
    OriginsAllowed: 'Origins',
    WebhookSecretRotated: 'Webhook secret',
  },
} as const;
