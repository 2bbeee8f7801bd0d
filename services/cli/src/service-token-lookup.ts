/** Finds the payment behind an account's token, using an index built on first use. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '@tollgate/core';
import { createPaymentIndex } from '@tollgate/lists';
import type { CommandTools } from './tools.ts';

/** Only used if the provider shows no order numbers: building it reads every event once. */
export function serviceTokenLookup(
  tools: Pick<CommandTools, 'store' | 'clock' | 'ids' | 'log'>,
  { environment, account }: { environment: Environment; account: string },
) {
  const stops = new AsyncDisposableStack();

  async function open() {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-adopt-'));
    stops.defer(() => rmSync(folder, { recursive: true, force: true }));
    const index = createPaymentIndex({ ...tools, file: join(folder, 'index.db'), scope: 'work' });
    stops.defer(() => index.stop());
    await index.start();
    return index;
  }
  let opening: ReturnType<typeof open> | undefined;

  return {
    async findByServiceToken(serviceToken: string) {
      const index = await (opening ??= open());
      return index.findByServiceToken(environment, account, serviceToken);
    },
    [Symbol.asyncDispose]: () => stops.disposeAsync(),
  };
}
