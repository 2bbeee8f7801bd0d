import { type KeyedSecret, parseKeyedSecrets } from '@tollgate/service-kit';

/** Shared secrets between the services of one gateway; the first one signs. */
export type InternalSecrets = readonly [KeyedSecret, ...KeyedSecret[]];

/** Reads `kid:secret`, or two of them during a rotation. @throws StartupError */
export const parseInternalSecrets = (text: string): InternalSecrets =>
  parseKeyedSecrets('INTERNAL_SECRETS', text, 2);
