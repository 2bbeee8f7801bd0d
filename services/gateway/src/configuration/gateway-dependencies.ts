import type { Clock, Ids, Log } from '@tollgate/service-kit';
import type { GatewayConfig } from './config.ts';

export interface GatewayDependencies {
  config: GatewayConfig;
  clock: Clock;
  ids: Ids;
  /** Returns the log of one service. */
  logOf: (service: string) => Log;
  /** The environment variables, for the private keys that the accounts file names. */
  env: Readonly<Record<string, string | undefined>>;
  pid: number;
  /** Projector and publisher run on a thread of their own, which reads the configuration from `env`. */
  hasFollowerThread?: boolean;
}
