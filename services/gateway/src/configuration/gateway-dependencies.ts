import type { Clock, Ids, Log } from '@tollgate/service-kit';
import type { GatewayConfig } from './config.ts';

export interface GatewayDependencies {
  config: GatewayConfig;
  clock: Clock;
  ids: Ids;
  /** Returns the log of one service. */
  logOf: (service: string) => Log;
  /** The environment variables, from which the thread of projector and publisher reads the configuration. */
  env: Readonly<Record<string, string | undefined>>;
  pid: number;
  /** Projector and publisher run on a thread of their own. */
  hasFollowerThread?: boolean;
}
