/** Which service answers which call of the API. What is not in this table is not forwarded, internal routes above all. */
import type { RoutedService } from '../../configuration/service-names.ts';

export interface ForwardedRoute {
  method: 'GET' | 'POST';
  /** As Fastify writes it: `/api/v1/payments/:token`. */
  path: string;
}

const get = (path: string): ForwardedRoute => ({ method: 'GET', path: `/api/v1/${path}` });
const post = (path: string): ForwardedRoute => ({ method: 'POST', path: `/api/v1/${path}` });

export const forwardedRoutes: Readonly<Record<RoutedService, readonly ForwardedRoute[]>> = {
  'command-service': [
    post('payments'),
    post('payments/confirm'),
    post('payments/decline'),
    post('refunds'),
    post('payouts'),
    get('balance'),
    post('reviews/:token/resolve'),
  ],
  'query-service': [
    get('payments'),
    get('payments.csv'),
    get('payments/:token'),
    get('payments/:token/events'),
    get('payouts'),
    get('payouts/:token'),
    get('payouts/:token/events'),
    get('refunds/:refundToken'),
    get('disputes/list'),
    get('reviews'),
    get('totals'),
  ],
  notifier: [
    get('payments/:token/webhooks'),
    post('payments/:token/webhooks/replay'),
    get('payouts/:token/webhooks'),
    post('payouts/:token/webhooks/replay'),
  ],
};
