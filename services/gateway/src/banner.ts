import { relative } from 'node:path';
import type { Quickstart } from './configuration/data-directory.ts';

const sandboxSteps = `2. Open the processingUrl of the answer (your browser will ask about the sandbox's self-made certificate)
   and pay with the card 4392963203551251, any expiry in the future, any CVV.

Or let npm run demo do both, in another terminal.`;

const realSteps =
  '2. Open the processingUrl of the answer: it is a page of the Payment Service that your accounts file names.';

const keyIn = (file: string) => `$(sed -n 's/.*"apiKey": "\\(.*\\)".*/\\1/p' ${file})`;

/** Beside the sandbox somebody has revoked the demo team's key; next to real accounts there is no such team. */
const keySteps = (isSandbox: boolean) => `${
  isSandbox
    ? '0. The key of the demo team was revoked, and no other is issued by itself. Issue one:'
    : '0. Add a team and issue a key:'
}

${isSandbox ? '' : '  npm run tollgate -- team add <team>\n'}  npm run tollgate -- key issue ${isSandbox ? 'demo --environment sandbox' : '<team> --environment <that of your accounts>'} --scopes payments,refunds,read

`;

const anotherLink = 'npm run tollgate -- operator link --role admin';

const headline = (missing: readonly string[], gatewayUrl: string): string =>
  missing.length === 0
    ? 'Tollgate is ready.'
    : `Tollgate runs, but these parts do not work: ${missing.join(', ')}. See the log; ${gatewayUrl}/readyz reports when it recovers.`;

/** What a newcomer sees when the gateway is ready: where things are, and the next two steps. */
export function banner(
  quickstart: Quickstart,
  {
    file: quickstartFile,
    folder,
    missing = [],
    signInLink,
  }: { file: string; folder: string; missing?: readonly string[]; signInLink?: string },
): string {
  const { gatewayUrl, apiKey, callbackUrl, metricsUrl, paymentServiceUrl, caFile } = quickstart;
  const shown = (file: string) => {
    const short = relative(folder, file);
    return short.startsWith('..') || short.includes(' ') ? `'${file}'` : short;
  };
  const sandboxLine =
    paymentServiceUrl === undefined || caFile === undefined
      ? ''
      : `  Payment Service  ${paymentServiceUrl}   (the sandbox; its CA: ${shown(caFile)})\n  Sandbox controls ${gatewayUrl}/console/sandbox   (lost answers, callbacks and time; sign in first)\n`;
  // Beside real accounts, what is printed may end up in a log, for everybody who reads logs.
  const console =
    sandboxLine === '' || signInLink === undefined
      ? `${gatewayUrl}/console   (to sign in: ${anotherLink})`
      : `${signInLink}\n                   (opens once, within 15 minutes; another one: ${anotherLink})`;
  return `
${headline(missing, gatewayUrl)}

  API              ${gatewayUrl}   (documentation: ${gatewayUrl}/docs, errors: ${gatewayUrl}/docs/errors)
  Console          ${console}
  Callbacks        ${callbackUrl}
  Metrics          ${metricsUrl}/metrics
${sandboxLine}  Keys and URLs    ${shown(quickstartFile)}

${apiKey === undefined ? keySteps(sandboxLine !== '') : ''}1. Create a payment: paste this into another terminal.

  curl -sS ${gatewayUrl}/api/v1/payments \\
    -H "Authorization: Bearer ${apiKey === undefined ? '<the key>' : keyIn(shown(quickstartFile))}" \\
    -H "Content-Type: application/json" -H "Idempotency-Key: $(date +%s)" \\
    -d '{"product":"Tea","amount":1250,"currency":"EUR","orderNumber":"order-1"}'

${sandboxLine === '' ? realSteps : sandboxSteps}

Press Ctrl-C to stop: requests in progress finish first, and nothing is lost. Read next: docs/team/quickstart.md.
`;
}
