/** The lines that `npm start` prints when the gateway is ready: where things are, and the next step. */
import { relative } from 'node:path';
import type { Quickstart } from './configuration/data-directory.ts';

const commands = 'npm run tollgate --';
const issueKey = `${commands} key issue demo --environment sandbox --scopes payments,refunds,read`;
const anotherLink = `${commands} operator link --role admin`;

const headline = (missing: readonly string[], gatewayUrl: string): string =>
  missing.length === 0
    ? 'Tollgate is ready. Press Ctrl-C to stop.'
    : `Tollgate runs, but these parts do not work: ${missing.join(', ')}. See the log; ${gatewayUrl}/readyz reports when it recovers.`;

interface BannerOptions {
  /** With the API key and all addresses. */
  file: string;
  /** From which the command was called. */
  folder: string;
  missing?: readonly string[];
  signInLink?: string;
  /** A key of the demo team that must be revoked before another can be issued. */
  keyToRevoke?: string;
}

export function banner(quickstart: Quickstart, options: BannerOptions): string {
  const { gatewayUrl } = quickstart;
  const { file, folder, missing = [] } = options;
  const short = relative(folder, file);
  const lines = [
    ['API', `${gatewayUrl}   (documentation: ${gatewayUrl}/docs)`],
    ...(quickstart.caFile === undefined ? besideAccounts(gatewayUrl) : inSandbox(quickstart, options)),
    ['Key, URLs', short.startsWith('..') ? file : short],
  ];
  const shown = lines.map(([name = '', text]) => `  ${name.padEnd(10)} ${text}`);
  return `${headline(missing, gatewayUrl)}\n\n${shown.join('\n')}\n`;
}

function inSandbox(
  { gatewayUrl, paymentServiceUrl, apiKey }: Quickstart,
  { signInLink = `${gatewayUrl}/console`, keyToRevoke }: BannerOptions,
): string[][] {
  const revoke = keyToRevoke === undefined ? '' : `${commands} key revoke demo ${keyToRevoke} && `;
  return [
    ['Console', `${signInLink}   (opens once, within 15 minutes)`],
    ['Sandbox', `${paymentServiceUrl}   (pay with the card 4392963203551251)`],
    apiKey === undefined
      ? ['Key', `none: ${revoke}${issueKey}`]
      : ['Try', 'npm run demo   (in another terminal)'],
    ['Read', 'docs/team/quickstart.md'],
  ];
}

/** Output may end up in a log that many people read, so it has no link to sign in. */
const besideAccounts = (gatewayUrl: string): string[][] => [
  ['Console', `${gatewayUrl}/console   (to sign in: ${anotherLink})`],
  ['Teams', `${commands} team --help   (docs/operator/teams-and-keys.md)`],
];
