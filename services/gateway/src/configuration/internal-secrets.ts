import { type KeyedSecret, parseKeyedSecrets } from '@tollgate/service-kit';

/** What the services of one gateway know each other by; the first one signs. */
export type InternalSecrets = readonly [KeyedSecret, ...KeyedSecret[]];

/** Reads `kid:secret`, or two of them during a rotation. @throws StartupError */
export const parseInternalSecrets = (text: string): InternalSecrets =>
  parseKeyedSecrets('INTERNAL_SECRETS', text, 2);
